"""The ranks of a distributed program: `record` runs one after another with a `group` that nobody else is in.

`world` puts them into one graph, where `collectives` are plain operators.

`ddp`, `fsdp`, `derivatives` and `placements` say in such operators what torch does between ranks; `waiting` finds
memory that is read while a collective works on it.
"""
