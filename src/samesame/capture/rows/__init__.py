"""Rows that data chooses: all of them are recorded, and those that are not chosen are masked where it shows.

`torch.where(chosen == e)`, `mask.nonzero()` and `x[mask]` give as many rows as there are true values, which no graph
can say. While a program is recorded, they give every row instead: the positions of all elements of the mask, in order.
A dimension of such a tensor is said to run over a `Selection`, and so do those of what is computed from it row by row.
`carried` says for each operator which dimensions of its result do; `endings` says what becomes of rows that are added
up, written or averaged: there `where(mask, row, 0)` takes the place of a row, and the result is an ordinary tensor.
Whatever else rows are used for is refused.

What Python sees of such a tensor's size is a `Count`, which says whether there are rows and no more. That the other
answer leads nowhere else is tried: `forced` runs the program and its graph with masks of which less is true.
"""
