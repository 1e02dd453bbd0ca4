"""`assay audit`: what a published benchmark can be believed for, from its text alone.

bytes → `reading` → `Document` → `see` (outputs, tables, commands, facts) → rules → `Audit`. Nothing is
sent anywhere, and nothing of the document is run.
"""

from assay.audit.judge import Audit, audit
from assay.audit.reading import read
from assay.audit.rules import AUDIT_RULES

__all__ = ["AUDIT_RULES", "Audit", "audit", "read"]
