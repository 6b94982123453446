"""refine: does a distributed program compute what the sequential one does?

All ranks stand in one graph, the world, where collectives are plain operators: an all-reduce is a sum, an all-gather a
concat. So to refine is to check: the world's inputs and weights are layouts of the sequential ones (`sources`), each
sequential output is put together from what the ranks return (`outputs`), values propose which tensor of a rank is
which piece of which sequential tensor, and proofs decide. `refines` means that every output is on the ranks, whole or
cut, with evidence; an output that is there as a sum that nobody took, or as a multiple, fails unless it was declared.
"""

from samesame.refine.job import load_job
from samesame.refine.named import arguments_of
from samesame.refine.transformers_plan import of_transformers
from samesame.refine.verb import refine, refine_graphs

__all__ = ["arguments_of", "load_job", "of_transformers", "refine", "refine_graphs"]
