"""The command line: a file a verb but for those that list, each of them parse, call, hand to the console."""
