"""The command line: a file a verb, or one for several read together: parse, call, hand to the console."""
