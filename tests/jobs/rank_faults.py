"""What is planted where: for each fault of a job, the sequential operators at which a report may say that the ranks
lose the program. These are the operator whose counterpart on the ranks was changed, or the first that reads what was
changed; for a gradient that nobody reduced, the operator that makes it.

A line is told by a piece of its source text, and the module as well where one line runs several.
"""

import linecache
from typing import Any, NamedTuple


class Planted(NamedTuple):
    """A fault: where it is, the bug class it stands for, and which operators are right to name."""

    job: str
    fault: str
    bug: str
    operators: tuple[str, ...]
    line: str
    module: str = ""


    def is_named(self, operator: str, origin: Any) -> bool:
        """Whether this sequential operator is one of those that are right to name."""
        line = origin.code or linecache.getline(origin.file, origin.line)
        inside = not self.module or f"{origin.module}.".startswith(f"{self.module}.")
        return operator.rsplit(".", 1)[0] in self.operators and self.line in line and inside


GRADIENT = ("aten.mm", "aten.sum", "aten.bmm")            # what makes the gradient of a weight or of a bias
SCORES = "q @ k.transpose(-1, -2)"
ROTATED = "x * cos + torch.cat((-right, left), -1) * sin"
LOSS = "cross_entropy("
PICKED = ("aten._log_softmax", "aten.nll_loss_forward", "aten.gather")
NOT_REDUCED = "gradients of data parallelism not reduced"
BLOCK = "x + self.down(gelu(self.up(self.norm(x))))"
LAYER = "x + self.down(self.up(x).tanh())"

PLANTED = (
    Planted("accumulation", "mean_of_each_micro_batch", "gradient accumulation normalised per micro-batch",
            ("aten.div",), "loss / (targets != -100).sum()"),
    Planted("accumulation", "one_rank_only", NOT_REDUCED, GRADIENT, "self.head(self.up"),
    Planted("context_parallel", "positions_from_zero_on_every_rank", "rotary offset per shard", ("aten.mul",), ROTATED),
    Planted("context_parallel", "parts_in_the_wrong_order", "gathered parts in the wrong order", ("aten.bmm",), SCORES),
    Planted("data_parallel", "gradients_not_synchronised", NOT_REDUCED, GRADIENT, BLOCK),
    Planted("data_parallel", "mean_of_means", "loss divided by the ranks twice", ("aten.div", "aten.mean"),
            ".mean() / self.parts"),
    Planted("dtensor_plans", "partial_gradient_marked_replicated", "partial gradient marked replicated", GRADIENT,
            "self.head(self.norm(self.layer", "norm"),
    Planted("expert_parallel", "router_gradient_not_reduced", "router gradient partial but marked replicated", GRADIENT,
            "self.router(x)", "router"),
    Planted("expert_parallel", "auxiliary_loss_scaled", "auxiliary loss scaled by the number of ranks",
            ("aten.add", "aten.mul"), "balance(weights.sum(0))"),
    Planted("fully_sharded", "gradients_not_synchronised", "missing reduce-scatter", GRADIENT, BLOCK, "second"),
    Planted("megatron_attention", "wrong_shared_head", "shared heads replicated wrongly", ("aten.bmm",),
            "rotated(q) @ rotated(k)"),
    Planted("megatron_attention", "shared_heads_not_added", "gradients of shared heads not added", ("aten.sum",),
            "y.repeat_interleave(HEADS // SHARED, 1)"),
    Planted("megatron_attention", "no_forward_all_reduce", "missing forward all-reduce", ("aten.addmm",),
            "self.o(", "o"),
    Planted("megatron_mlp", "no_forward_all_reduce", "missing forward all-reduce", ("aten.addmm",), BLOCK, "down"),
    Planted("megatron_mlp", "bias_on_every_rank", "bias added on every rank", ("aten.addmm",), BLOCK, "down"),
    Planted("megatron_mlp", "discarded_all_reduce", "all-reduce of a copy, discarded", ("aten.addmm",), BLOCK, "down"),
    Planted("megatron_mlp", "no_backward_all_reduce", "missing backward all-reduce", ("aten.mul", "aten.sum"), BLOCK,
            "norm"),
    Planted("megatron_mlp", "swapped_shard_dim", "weight cut over the wrong dimension", ("aten.addmm",), BLOCK, "down"),
    Planted("mesh_of_two", "reduced_over_the_wrong_dimension", "reduced over the wrong axis", GRADIENT, BLOCK),
    Planted("pipeline", "gradients_in_the_wrong_order", "micro-batches' gradients in the wrong order", ("aten.mul",),
            "self.second(self.first(x).tanh())"),
    Planted("pipeline_inference", "micro_batches_in_reverse", "micro-batches put together in the wrong order",
            ("aten.add",), LAYER, "layers.3"),
    Planted("pipeline_inference", "input_added_again", "input of a stage added to what came", ("aten.addmm",), LAYER,
            "layers.2.up"),
    Planted("pipeline_stages", "stages_swapped", "stages on the wrong ranks", ("aten.addmm",), LAYER, "layers.0.up"),
    Planted("pipeline_stages", "last_micro_batch_only", "gradients not accumulated", GRADIENT, LAYER),
    Planted("pipeline_stages", "not_divided_by_micro_batches", "loss not divided by the micro-batches", ("aten.mean",),
            "((model(x) - y) ** 2).mean()"),
    Planted("ring_attention", "positions_from_zero_on_every_rank", "rotary offset per shard", ("aten.mul",), ROTATED),
    Planted("ring_attention", "no_rescaling", "running softmax not rescaled", ("aten._softmax", "aten.bmm"),
            ".softmax(-1) @ v"),
    Planted("sequence_parallel", "norm_gradients_not_reduced", "norm gradients not reduced", ("aten.sum",), BLOCK,
            "norm"),
    Planted("simple_fsdp", "sum_for_mean", "sum for a mean of gradients", GRADIENT, BLOCK),
    Planted("ulysses", "positions_from_zero_on_every_rank", "rotary offset per shard", ("aten.mul",), ROTATED),
    Planted("vocabulary_loss", "local_normaliser", "cross-entropy normalised by own words", PICKED, LOSS),
    Planted("vocabulary_loss", "one_subtracted_on_every_rank", "derivative of a loss over a cut vocabulary",
            ("aten.scatter", "aten.mul", "aten.sub"), LOSS),
    Planted("vocabulary_loss", "derivative_of_the_sum", "derivative of a loss over a cut vocabulary",
            ("aten.div", "aten.scatter", "aten.mul", "aten.sub"), LOSS),
    Planted("vocabulary_parallel", "local_targets_of_gathered_logits",
            "cross-entropy of gathered logits, local targets", ("aten.nll_loss_forward", "aten.gather"), LOSS),
    Planted("vocabulary_parallel", "targets_of_others_counted", "targets of others counted", PICKED, LOSS),
    Planted("vocabulary_parallel", "words_of_others_looked_up", "words of others looked up",
            ("aten.embedding", "aten.tanh"), "self.table(words)"),
    Planted("vocabulary_parallel", "words_of_the_next_rank", "rows of the next rank", ("aten.embedding", "aten.tanh"),
            "self.table(words)"),
    Planted("vocabulary_parallel", "maximum_of_own_words", "maximum of own words only", PICKED, LOSS),
    Planted("vocabulary_parallel", "exponentials_of_own_words", "cross-entropy normalised by own words", PICKED, LOSS),
)
