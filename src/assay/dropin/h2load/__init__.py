"""h2load's command line: its flags and its report.

words ─▶ flags ─▶ command (the plan) ─▶ front (the load) ─▶ report
"""

from assay.dropin.h2load.command import main

__all__ = ["main"]
