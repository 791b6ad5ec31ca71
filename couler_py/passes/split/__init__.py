"""Big workflows in parts that an engine can take, chosen so that a run loses as little time as can be.

Nothing here knows an engine: `splitting.split` is given what tasks weigh and what a part may, and gives parts as data;
`nesting.nested` makes a workflow of graphs in a graph of them.
"""

from couler_py.passes.split.budget import Budget as Budget
from couler_py.passes.split.budget import Split as Split
from couler_py.passes.split.budget import SplitError as SplitError
