"""The command line: one file a verb, each of them parse, call, hand to the console."""
