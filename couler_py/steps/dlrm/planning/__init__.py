"""What a recommender's training is given: workers, parameter servers, cores and memory, decided and explained.

`performance.py` says how fast an allocation is, from what was measured, and `memory.py` how much it will need and
when it runs out. `similar.py` begins where alike jobs ended, `search.py` and `scaling.py` look for something better,
`instability.py` decides what to do about slow, lost and full nodes, `cluster.py` shares a cluster among jobs, and
`rules.py` is what DLRover's open repository does, for when nothing can be fitted. Each gives a `decisions.Decision`.
`deciding.py` puts them together, `records.py` reads earlier runs, `simulator.py` plays jobs. Needs NumPy and SciPy.

After DLRover-RM (Wang et al., PVLDB 17, 2024, arXiv 2304.01468), whose text gives names and figures, not all formulas.
"""
