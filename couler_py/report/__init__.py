"""What a workflow and a run look like to a person: graph pictures, plots, cards and HTML pages.

>>> from couler_py.report import plots, cards, page
>>> picture = plots.bar({"svm": 0.98, "forest": 0.96}, title="accuracy")
>>> html = page("Models", [cards.Text("Three families were tried."), cards.Plot("Scores", picture)])
"""

from couler_py.report import cards, plots
from couler_py.report.page import page

__all__ = ["cards", "page", "plots"]
