"""Text to train on: files at hand, tokens of them, and who gets which sample."""
