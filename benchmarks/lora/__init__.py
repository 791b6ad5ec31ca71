"""Many LoRA trainings: `planning.py` is part of `benchmarks/run`; `joint.py` and `gpu_check.py` need torch."""
