"""`python -m couler_py.cli`: the command where its script is not on the path."""

from couler_py.cli import main

main()
