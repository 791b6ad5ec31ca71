"""What stands between the engine and the processes of steps.

All but `wardens.py` and `outgoing.py`, its end in the engine, is standard library only.
"""
