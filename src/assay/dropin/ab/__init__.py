"""ApacheBench's command line: its flags, its report and its files.

words ─▶ flags ─▶ request, plan ─▶ front (the load) ─▶ requests, figures ─▶ report, files
"""

from assay.dropin.ab.command import main

__all__ = ["main"]
