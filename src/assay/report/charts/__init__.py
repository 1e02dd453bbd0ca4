"""Charts of a run as SVG, drawn at report time: each with the data behind it as a table."""

from assay.report.charts.all import about, charts
from assay.report.charts.chart import Chart, colour, inline, style, to_png, to_svg, variables
from assay.report.charts.data import hues

__all__ = ["Chart", "about", "charts", "colour", "hues", "inline", "style", "to_png", "to_svg", "variables"]
