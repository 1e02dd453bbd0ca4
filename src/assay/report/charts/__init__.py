"""Charts of a run: Vega-Lite specifications, each with the data behind it as a table."""

from assay.report.charts.all import charts
from assay.report.charts.chart import Chart, to_png, to_svg

__all__ = ["Chart", "charts", "to_png", "to_svg"]
