import torch
from torch.nn import functional as F

BETA = 0.1


def sequence_logp(logits, labels, mask):
    logits, labels, mask = logits[:, :-1], labels[:, 1:], mask[:, 1:]
    per_token = torch.gather(logits.log_softmax(-1), 2, labels.unsqueeze(2)).squeeze(2)
    return (per_token * mask).sum(-1)


def two_passes(chosen_logits, rejected_logits, chosen, rejected, chosen_mask, rejected_mask, ref_chosen, ref_rejected):
    """The reference code of the paper."""
    policy_chosen = sequence_logp(chosen_logits, chosen, chosen_mask)
    policy_rejected = sequence_logp(rejected_logits, rejected, rejected_mask)
    pi_logratios = policy_chosen - policy_rejected
    ref_logratios = ref_chosen - ref_rejected
    loss = -F.logsigmoid(BETA * (pi_logratios - ref_logratios)).mean()
    return loss, BETA * (policy_chosen - ref_chosen), BETA * (policy_rejected - ref_rejected)


def concatenated(chosen_logits, rejected_logits, chosen, rejected, chosen_mask, rejected_mask, ref_chosen, ref_rejected):
    """As TRL: both answers in one batch, cross entropy per token, rewards first."""
    logits = torch.cat([chosen_logits, rejected_logits])
    labels = torch.cat([chosen, rejected]).roll(-1, dims=1)
    keep = torch.cat([chosen_mask, rejected_mask])
    keep = F.pad(keep[:, 1:], (0, 1), value=False)
    nll = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").view_as(labels)
    logp = -torch.where(keep, nll, torch.zeros_like(nll)).sum(dim=1)
    logp_chosen, logp_rejected = logp.chunk(2)
    good, bad = BETA * (logp_chosen - ref_chosen), BETA * (logp_rejected - ref_rejected)
    return F.softplus(bad - good).mean(), good, bad


def example(B=3, T=5, V=7):
    ids = [torch.randint(0, V, (B, T)) for _ in range(2)]
    masks = [torch.rand(B, T) < 0.7 for _ in range(2)]
    return (torch.randn(B, T, V), torch.randn(B, T, V), *ids, *masks, torch.randn(B), torch.randn(B))


def inputs():
    return example()
