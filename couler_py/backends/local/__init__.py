"""The embedded engine: runs a workflow on this machine, and is the reference for what the IR means."""
