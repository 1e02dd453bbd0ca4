"""A run in the formats of other tools. Each function takes the run and gives text, bytes or files."""
