"""ApacheBench's command line: its flags, its report and its files.

words ─▶ flags ─▶ command (the plan) ─▶ front (the load) ─▶ figures ─▶ report
"""

from assay.dropin.ab.command import main

__all__ = ["main"]
