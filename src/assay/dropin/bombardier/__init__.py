"""bombardier's command line: its flags, its progress bar, and its reports: text and JSON.

words ─▶ flags ─▶ plan (with the requests) ─▶ front (the load) ─▶ report (its figures first)
"""

from assay.dropin.bombardier.command import main

__all__ = ["main"]
