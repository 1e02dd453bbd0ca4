"""The pages of docs/studies: figures and facts as JSON, written as Markdown."""
