"""Cases without a study: a command or a URL, given on the command line.

`assay versus` and `assay capacity` make of their words what a study makes of its file: cases with a
plan and a contract, which `assay.trial` runs like any other.
"""
