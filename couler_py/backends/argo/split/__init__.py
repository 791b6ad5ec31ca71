"""A split workflow on Argo: a WorkflowTemplate for each part, and a workflow that runs them, each as one of its own.

A part that the workflow called by reference (`templateRef`) would relieve it of nothing: the controller keeps all such
templates, and the nodes of all parts, in the one object that may have 1 MiB. So a task of the kind `resource` creates a
Workflow from the part's WorkflowTemplate, waits for its end, and reads what it gave out.

The whole is emitted once, as a workflow of graphs in a graph (`couler_py.passes.split.nesting`), and the parts are
taken out of that document. So values travel in the same form on both sides of a border as inside.
"""

from couler_py.backends.argo.split.documents import compile_split as compile_split
