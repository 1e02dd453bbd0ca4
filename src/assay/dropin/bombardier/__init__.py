"""bombardier's command line: its flags, its progress bar, and its reports: text, JSON and Go templates.

words ─▶ kingpin, flags ─▶ request, plan ─▶ front (the load) ─▶ figures ─▶ plain, machine or template
"""

from assay.dropin.bombardier.command import main

__all__ = ["main"]
