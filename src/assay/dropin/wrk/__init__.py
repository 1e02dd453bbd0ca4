"""wrk's command line: its flags, its Lua scripts and its report; and wrk2's fixed rate.

words ─▶ flags (and the plan they make) ─▶ front (the load) ─▶ report (its figures first)
"""

from assay.dropin.wrk.command import main

__all__ = ["main"]
