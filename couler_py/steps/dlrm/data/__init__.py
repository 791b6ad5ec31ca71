"""Tables in Criteo's format: made, read, encoded, and written as shards that training reads.

A row is a click or none (the label), counts (the dense features), and categories (the sparse features). `synthetic.py`
makes rows with a planted structure, `tsv.py` and `parquet.py` read and write files, `encoding.py` gives categories
their places in embedding tables, `preparing.py` does all of it, and `shards.py` is what is read in training."""
