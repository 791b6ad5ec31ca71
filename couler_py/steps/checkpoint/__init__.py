"""One format of checkpoints for all training: it knows tensors, and no layout that they were saved or are read in.

A tensor is cut into cells by its shape alone. Each cell is written once, by one of the ranks that hold it, with a
checksum; whoever reads takes the cells that meet its part. `saving.py` saves and loads what ranks hold, `flash.py`
saves through memory while training goes on. Wang et al., "Elastor", PPoPP 2026 (slices that know no layout); Wan et
al., "ByteCheckpoint", NSDI 2025 (boxes); DLRover's flash checkpoint (memory first).
"""
