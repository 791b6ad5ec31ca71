"""Who trains on which rows, while workers come, go, stall and die.

A master hands out shards, ranges of rows; a worker asks for the next when it is done with one, so that a slow one
gets fewer (dynamic data sharding: Wang et al., "DLRover-RM", arXiv 2304.01468). `machine.py` is what is known and how
it changes, a function of the requests alone; `journal.py` keeps the requests on disk, `master.py` serves them,
`service.py` starts the master again when it dies, `worker.py` is the side of those who train. `shares.py` cuts a
global batch unevenly for ranks that step together."""
