import torch
from torch.nn import functional as F

CLIP = 0.2


def cleanrl(logits, actions, old_logp, advantages, values, old_values, returns):
    logp_all = F.log_softmax(logits, dim=-1)
    logp = logp_all.gather(-1, actions[:, None])[:, 0]
    ratio = (logp - old_logp).exp()

    loss1 = -advantages * ratio
    loss2 = -advantages * torch.clamp(ratio, 1 - CLIP, 1 + CLIP)
    policy = torch.max(loss1, loss2).mean()

    unclipped = (values - returns) ** 2
    clipped = old_values + torch.clamp(values - old_values, -CLIP, CLIP)
    value = 0.5 * torch.max(unclipped, (clipped - returns) ** 2).mean()

    entropy = -(logp_all.exp() * logp_all).sum(-1).mean()
    return policy - 0.01 * entropy + 0.5 * value, policy, value, entropy


def spinning_up(logits, actions, old_logp, advantages, values, old_values, returns):
    log_z = torch.logsumexp(logits, dim=-1)
    chosen = F.one_hot(actions, logits.shape[-1]).to(logits.dtype)
    ratio = torch.exp((logits * chosen).sum(-1) - log_z - old_logp)

    best = torch.where(advantages >= 0, ratio.clamp(max=1 + CLIP), ratio.clamp(min=1 - CLIP))
    policy = -(best * advantages).mean()

    near = torch.minimum(torch.maximum(values, old_values - CLIP), old_values + CLIP)
    error, near_error = returns - values, returns - near
    value = torch.maximum(error * error, near_error * near_error).mean() / 2

    entropy = (log_z - (torch.softmax(logits, -1) * logits).sum(-1)).mean()
    return policy + 0.5 * value - 0.01 * entropy, policy, value, entropy


def example(B=6, A=4):
    actions = torch.randint(0, A, (B,))
    return (torch.randn(B, A), actions, torch.randn(B) - 1.5, torch.randn(B), torch.randn(B), torch.randn(B), torch.randn(B))


def inputs():
    return example()
