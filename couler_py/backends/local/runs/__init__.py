"""Runs from the outside: found, watched, compared, exported, taken up again, cleared away."""
