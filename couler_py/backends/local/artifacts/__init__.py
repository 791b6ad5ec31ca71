"""Files from and to other places, and the artifacts of runs that others keep or find."""
