"""Steps in their images: one group of containers for each attempt, made by podman or docker.

The engine writes what an attempt needs as a `Group` (`request.py` and its neighbours). The attempt's process is then
the *conductor* (`conduct.py`): it makes the containers, waits for them, takes their outputs, and takes them away.
It and what it imports are standard library only. Whoever finds an attempt whose conductor was killed takes its
containers away (`orphans.py`).
"""
