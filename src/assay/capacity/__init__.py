"""The highest rate that holds an objective: what it asks, where it is searched, and the search itself.

objective = parse("p99<50ms,errors<0.1%")
run = run_capacity(quest, ...)      # each trial goes where it decides most

What a search has found is told by `assay.verdict.search`, from the record alone.
"""
