"""What happens in runs, told to others: JSON lines, webhooks, OpenLineage, and numbers for Prometheus.

An event is first written into the run's own folder (`outbox`), each once. Workers of their own (`teller`) bring it to
each place from there, and note how far they came. So a run neither waits for a place nor fails with it, nothing is lost
where one can't be reached, and a run that another engine goes on with tells nothing twice that was delivered.
"""
