"""Where many LoRA trainings run, and what each replica does of a step: mLoRA's pipelines, LobRA's replicas. Pure.

- `costs.py`: what a micro-batch takes on a replica, fitted to measures.
- `buckets.py`: lengths that rows are padded to. `dispatching.py`: who does how many rows of each, in which
  micro-batches. `deploying.py`: which replicas there are at all.
- `pipeline.py`: jobs that take turns in one pipeline.
"""
