"""Triton's IR, executed for all programs, lanes and iterations at once."""
