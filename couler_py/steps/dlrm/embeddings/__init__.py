"""Embedding tables that ranks share, on plain torch: which rank holds which rows and columns, lookups, optimizers.

`placing.py` cuts tables and needs no torch; `sharded.py` looks up; `optimizers.py` moves the rows that were looked up;
`moving.py` carries rows to where another plan has them. Mudigere et al., "Software-Hardware Co-design for Fast and
Scalable Training of Deep Learning Recommendation Models" (arXiv 2104.05158) names the ways of cutting.
"""
