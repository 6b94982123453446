"""optimize: the fastest program that still computes the same."""
