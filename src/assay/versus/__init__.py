"""Which of these serves more? What a contest has come to, told from its record alone.

What it does next is told by `assay.design.contest`.
"""
