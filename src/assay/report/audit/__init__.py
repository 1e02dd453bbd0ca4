"""An audit in each form that it is read in: terminal, Markdown, JSON, SARIF."""
