"""From IR to IR, and what can be known about a workflow without running it. Each pass is one package."""
