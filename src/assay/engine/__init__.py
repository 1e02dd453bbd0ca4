"""The load engine from Python: driving it, one generator or many, and where a load may go."""
