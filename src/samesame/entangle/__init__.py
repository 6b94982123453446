"""Graphs that another tool captured, with the relation that it states between them: `refine --case` alone loads this.

`pickled` reads its files, `hlo` and `fused` what they hold beside torch's operators, and `graphs` puts it together with
`emit`. Captured graphs have fixed sizes, far too large to run: `shapes` and `roles` find which of these are one and
the same, `shrink` makes them symbols, with small sizes to run. `case` and `stated` are the relation; `verb` decides at
small sizes, and `captured` proves that anew of what was captured, its sizes read back by `reading`.
"""
