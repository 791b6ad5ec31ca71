"""Pictures of workflows: SVG, an HTML page, and Mermaid text.

>>> from couler_py.report import graph                    # doctest: +SKIP
>>> graph.svg(graph.scene(workflow))                      # doctest: +SKIP
"""

from couler_py.report.graph.build import scene
from couler_py.report.graph.mermaid import mermaid
from couler_py.report.graph.scene import Link, Node, Scene
from couler_py.report.graph.states import tally
from couler_py.report.graph.svg import picture, svg

__all__ = ["Link", "Node", "Scene", "mermaid", "picture", "scene", "svg", "tally"]
