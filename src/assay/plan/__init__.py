"""From studies and words to a settled run, and what a run of each kind does next."""
