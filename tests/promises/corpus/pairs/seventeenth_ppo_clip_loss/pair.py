"""PPO's minibatch loss: as in CleanRL, and as rewritten without torch.distributions."""
import torch
from torch.distributions import Categorical
from torch.nn import functional as F

CLIP, VF, ENT = 0.2, 0.5, 0.01
M, A = 10, 4


def left(logits, newvalue, actions, old_logp, advantages, returns, old_values):
    dist = Categorical(logits=logits, validate_args=False)
    newlogprob, entropy = dist.log_prob(actions), dist.entropy()
    ratio = (newlogprob - old_logp).exp()
    adv = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    pg_loss1 = -adv * ratio
    pg_loss2 = -adv * torch.clamp(ratio, 1 - CLIP, 1 + CLIP)
    pg_loss = torch.max(pg_loss1, pg_loss2).mean()

    v_loss_unclipped = (newvalue - returns) ** 2
    v_clipped = old_values + torch.clamp(newvalue - old_values, -CLIP, CLIP)
    v_loss_clipped = (v_clipped - returns) ** 2
    v_loss = 0.5 * torch.max(v_loss_unclipped, v_loss_clipped).mean()

    entropy_loss = entropy.mean()
    loss = pg_loss - ENT * entropy_loss + v_loss * VF
    return loss, pg_loss, v_loss, entropy_loss


def right(logits, newvalue, actions, old_logp, advantages, returns, old_values):
    logp_all = F.log_softmax(logits, dim=-1)
    logp = logp_all.gather(-1, actions.unsqueeze(-1)).squeeze(-1)
    entropy = -(logp_all.exp() * logp_all).sum(-1).mean()

    centred = advantages - advantages.mean()
    std = (centred.square().sum() / (advantages.numel() - 1)).sqrt()
    adv = centred / (std + 1e-8)
    ratio = torch.exp(logp - old_logp)
    surrogate = torch.minimum(ratio * adv, ratio.clamp(1 - CLIP, 1 + CLIP) * adv)
    policy = -surrogate.mean()

    clipped = newvalue.clamp(old_values - CLIP, old_values + CLIP)
    value = torch.maximum(F.mse_loss(newvalue, returns, reduction="none"),
                          F.mse_loss(clipped, returns, reduction="none")).mean() / 2
    return policy + VF * value - ENT * entropy, policy, value, entropy


def inputs():
    logits = torch.randn(M, A)
    actions = torch.randint(0, A, (M,))
    old = F.log_softmax(logits + 0.2 * torch.randn(M, A), -1).gather(1, actions[:, None])[:, 0]
    values = torch.randn(M)
    return logits, values, actions, old, torch.randn(M), torch.randn(M), values + 0.3 * torch.randn(M)
