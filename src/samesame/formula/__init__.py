"""Formulas: what one element of a tensor is, in index notation, and whether two formulas are equal.

Open `expr.py` for the grammar and `show.py` for how a formula reads. Nothing here imports torch.
"""
