"""The tables of planners for uneven hardware, from their formulas: what `benchmarks/run --only hybrid` prints."""
