"""Formulas over the extended reals: made simple, made short, and looked at for infinities and undefined values."""
