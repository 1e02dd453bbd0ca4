"""What people look at: screens, Markdown, pages, charts and exports.

Everything here is made from the stored `Run` (or one `Measurement`) alone and never
imports the engine, so yesterday's run can be reported by tomorrow's version.
"""
