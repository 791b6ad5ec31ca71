"""Couler's verbs, on the same recorder as steps.

Outside of a workflow they record into an implicit one, each step after the one before; see
`couler_py.dsl.verbs.state`. `couler_py.argo` has them under Couler's own import line.
"""
