"""The functions that expressions may call (`catalog.py`), and what of Go's library they need."""
