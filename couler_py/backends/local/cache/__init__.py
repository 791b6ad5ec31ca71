"""Steps whose outputs are known: their keys, looking them up, and why one wasn't found."""
