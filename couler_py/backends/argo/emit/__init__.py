"""A lowered workflow as plain data: `document.py` is where to start reading."""
