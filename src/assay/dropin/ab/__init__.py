"""ApacheBench's command line: its flags, its report and its files.

words ─▶ flags ─▶ plan ─▶ front (the load) ─▶ figures ─▶ report
"""

from assay.dropin.ab.command import main

__all__ = ["main"]
