"""One step: what an attempt is given, its request to the warden, what its record says."""
