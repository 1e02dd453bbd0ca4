"""Runs without a study: commands and URLs, given on the command line.

`assay versus` and `assay capacity` draft a design of their words (`drafts`); `case.resolve` makes of it what
a study makes of its file: cases with a plan and a contract, which `assay.runner` runs like any other.
"""
