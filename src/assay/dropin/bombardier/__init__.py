"""bombardier's command line: its flags, its progress bar, and its reports: text and JSON.

words ─▶ kingpin, flags ─▶ request, plan ─▶ front (the load) ─▶ figures ─▶ plain or machine
"""

from assay.dropin.bombardier.command import main

__all__ = ["main"]
