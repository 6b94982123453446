"""sweep: which fields of a config does one of two libraries ignore?

Default checkpoints leave most fields of their config alone, so a field that a library never reads goes unnoticed until
a checkpoint sets it. A sweep changes one field at a time on a tiny twin of the config, builds the same random weights
on both sides, and checks each pair. `verb` is the sweep; `probes` says which fields get which values, `attempt` is one
of them, `workers` are the processes that make them, `record` is the file from which an interrupted sweep goes on.

Nothing is imported here: a worker process has its threads to set before torch is loaded.
"""
