"""PPO's clipped objective with entropy bonus and a clipped value loss."""
import torch
from torch.distributions import Categorical
from torch.nn import functional as F

CLIP, VALUE, ENTROPY = 0.2, 0.5, 0.01


def reference(logits, actions, old_logp, advantages, values, returns):
    policy = Categorical(logits=logits, validate_args=False)
    ratio = (policy.log_prob(actions) - old_logp).exp()
    a = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    first = ratio * a
    second = ratio.clamp(1 - CLIP, 1 + CLIP) * a
    surrogate = torch.min(first, second).mean()
    return -surrogate + VALUE * F.mse_loss(values, returns) - ENTROPY * policy.entropy().mean()


def port(logits, actions, old_logp, advantages, values, returns):
    logp = logits.log_softmax(-1)
    chosen = logp.gather(-1, actions[:, None]).squeeze(-1)
    centred = advantages - advantages.mean()
    a = centred / ((centred.square().sum() / (advantages.shape[0] - 1)).sqrt() + 1e-8)
    ratio = torch.exp(chosen - old_logp)
    surrogate = torch.clip(ratio, 1 - CLIP, 1 + CLIP) * a
    entropy = -(logp.exp() * logp).sum(-1)
    return (VALUE * (values - returns).square() - surrogate - ENTROPY * entropy).mean()


def inputs():
    logits = torch.randn(6, 4)
    actions = torch.randint(0, 4, (6,))
    old = logits.log_softmax(-1).gather(1, actions[:, None]).squeeze(1) + 0.03 * torch.randn(6)
    return logits, actions, old, torch.randn(6), torch.randn(6), torch.randn(6)
