"""The highest rate that holds an objective: what it asks, and between which rates it is looked for.

What a search does next is told by `assay.design.search`, what it has found by `assay.verdict.search`, from
the record alone.
"""
