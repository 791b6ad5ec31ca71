"""What runs when: a run from its beginning to its end, graphs, fan-outs, loops, waits."""
