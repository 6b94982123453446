# EQUAL
import torch
import torch.nn.functional as F
from torch.distributions import Categorical

CLIP, VF, ENT = 0.2, 0.5, 0.01


def left(logits, values, actions, old_logp, old_values, adv, returns):
    dist = Categorical(logits=logits)
    logp = dist.log_prob(actions)
    ratio = (logp - old_logp).exp()
    surr1 = ratio * adv
    surr2 = torch.clamp(ratio, 1 - CLIP, 1 + CLIP) * adv
    policy = -torch.min(surr1, surr2).mean()
    clipped = old_values + (values - old_values).clamp(-CLIP, CLIP)
    value = 0.5 * torch.max((values - returns) ** 2, (clipped - returns) ** 2).mean()
    return policy + VF * value - ENT * dist.entropy().mean()


def right(logits, values, actions, old_logp, old_values, adv, returns):
    logp_all = F.log_softmax(logits, -1)
    logp = -F.nll_loss(logp_all, actions, reduction="none")
    r = torch.exp(logp - old_logp)
    # pessimistic by the sign of the advantage
    r = torch.where(adv >= 0, r.clamp(max=1 + CLIP), r.clamp(min=1 - CLIP))
    entropy = -(logp_all.exp() * logp_all).sum(-1)
    step = torch.max(torch.min(values - old_values, torch.full_like(values, CLIP)), torch.full_like(values, -CLIP))
    err = torch.stack([values - returns, old_values + step - returns]).square().amax(0)
    n = adv.shape[0]
    return (-(r * adv) + VF * 0.5 * err - ENT * entropy).sum() / n


def inputs():
    torch.manual_seed(7)
    n, a = 9, 4
    return {
        "logits": torch.randn(n, a),
        "values": torch.randn(n),
        "actions": torch.randint(0, a, (n,)),
        "old_logp": -torch.rand(n) - 0.7,
        "old_values": torch.randn(n),
        "adv": torch.randn(n),
        "returns": torch.randn(n),
    }
