"""Studies: files in, resolved cases out.

`load_study` reads and checks a file; `resolve` settles everything: profile, variants, loads, seed,
cores. What it returns is immutable and asks nobody anything more.
"""

from __future__ import annotations

from assay.plan.study.load import Study, list_studies, load_study
from assay.plan.study.resolve import resolve
from assay.plan.study.schema import StudyFile, json_schema

__all__ = [
    "Study",
    "StudyFile",
    "json_schema",
    "list_studies",
    "load_study",
    "resolve",
]
