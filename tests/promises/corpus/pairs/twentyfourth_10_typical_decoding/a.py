"""Locally typical sampling: the warper of Transformers, then probabilities to sample from."""
import torch


class TypicalLogitsWarper:
    def __init__(self, mass=0.7, temperature=0.9, filter_value=-float("inf")):
        self.mass, self.temperature, self.filter_value = mass, temperature, filter_value

    def __call__(self, scores):
        scores = scores / self.temperature
        # calculate entropy
        normalized = torch.nn.functional.log_softmax(scores, dim=-1)
        p = torch.exp(normalized)
        ent = -(normalized * p).sum(-1, keepdim=True)

        # shift and sort
        shifted_scores = torch.abs((-normalized) - ent)
        sorted_scores, sorted_indices = torch.sort(shifted_scores, descending=False)
        sorted_logits = scores.gather(-1, sorted_indices)
        cumulative_probs = sorted_logits.softmax(dim=-1).cumsum(dim=-1)

        # remove tokens with cumulative mass above the threshold
        last_ind = (cumulative_probs < self.mass).sum(dim=1)
        last_ind.clamp_(max=sorted_scores.shape[-1] - 1)
        sorted_indices_to_remove = sorted_scores > sorted_scores.gather(1, last_ind.view(-1, 1))
        indices_to_remove = sorted_indices_to_remove.scatter(1, sorted_indices, sorted_indices_to_remove)
        return scores.masked_fill(indices_to_remove, self.filter_value).softmax(-1)


warper = TypicalLogitsWarper()


def inputs():
    return (torch.randn(3, 11) * 2,)
