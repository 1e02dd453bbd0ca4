"""wrk's command line: its flags, its Lua scripts and its report; and wrk2's fixed rate.

words ─▶ flags ─▶ plan ─▶ front (the load) ─▶ figures ─▶ report
"""

from assay.dropin.wrk.command import main

__all__ = ["main"]
