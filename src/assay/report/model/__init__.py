"""What a report says: a run as one immutable value, which every form of a report only lays out.

Pure: from the record and its judgement alone, with nothing of a terminal, a page or a chart.
"""

from assay.report.model.report import report
from assay.report.model.values import Report

__all__ = ["Report", "report"]
