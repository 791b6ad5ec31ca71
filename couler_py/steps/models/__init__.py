"""Language models to train: a small decoder of our own, and causal models of Hugging Face from a folder."""
