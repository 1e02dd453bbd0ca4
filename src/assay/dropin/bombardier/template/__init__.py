"""A small reading of Go's text/template: what reports of bombardier need of it.

text ─▶ lexer (tokens) ─▶ parser (nodes) ─▶ run (text), with the functions of `functions`

There are texts, comments, trim markers, pipelines, fields and methods, variables, `if`, `with`, `range`,
`else`, `break`, `continue`, and the comparison, logic and printing functions. What is outside
(`define`, `template`, `block`, other functions) is refused with its name and its line.
"""

from assay.dropin.bombardier.template.lexer import TemplateError
from assay.dropin.bombardier.template.parser import parse
from assay.dropin.bombardier.template.run import render

__all__ = ["TemplateError", "parse", "render"]
