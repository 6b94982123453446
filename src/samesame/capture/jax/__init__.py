"""JAX programs: a jaxpr is walked equation by equation in torch, and checked against JAX's own values.

`program` traces a function and walks; `weights` finds the arrays that it holds; `primitives` is the table of what each
primitive is in torch, `indexing` the part of it that looks elements up.
"""
