"""Relating two graphs: values propose, proofs decide, an e-graph spreads what was decided.

`parameters` infers how the weights of the two sides sit in one another; `draws` makes the values that both sides
run on; `propose` finds tensors whose values agree up to a layout; `joint` holds both graphs in one e-graph;
`blocks` cuts the claim between a candidate pair and what is already related; `prove` decides it and turns it into a
rule; `relating` is the loop over all of these.
"""
