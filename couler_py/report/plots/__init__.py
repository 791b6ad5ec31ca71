"""Small plots as SVG text, made without any library, so that steps can draw where nothing is installed.

>>> from couler_py.report import plots
>>> plots.bar({"svm": 0.98, "forest": 0.96}, title="accuracy").startswith("<svg")
True
"""

from couler_py.report.plots.bars import bar
from couler_py.report.plots.lanes import Lane, lanes
from couler_py.report.plots.matrix import confusion_matrix, heatmap
from couler_py.report.plots.timeline import Span, timeline
from couler_py.report.plots.xy import line, scatter

__all__ = ["Lane", "Span", "bar", "confusion_matrix", "heatmap", "lanes", "line", "scatter", "timeline"]
