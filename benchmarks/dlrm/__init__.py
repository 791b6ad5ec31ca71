"""Recommenders: how fast rows come to training, and the planner of resources on simulated jobs."""
