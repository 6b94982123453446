"""PPO loss, in the manner of CleanRL."""
import torch
from torch.distributions import Categorical

CLIP, ENT, VF = 0.2, 0.01, 0.5


def loss(logits, newvalue, actions, old_logprob, advantages, returns, values):
    dist = Categorical(logits=logits, validate_args=False)
    newlogprob, entropy = dist.log_prob(actions), dist.entropy()
    logratio = newlogprob - old_logprob
    ratio = logratio.exp()
    with torch.no_grad():
        approx_kl = ((ratio - 1) - logratio).mean()
        clipfrac = ((ratio - 1.0).abs() > CLIP).float().mean()

    adv = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    pg_loss1 = -adv * ratio
    pg_loss2 = -adv * torch.clamp(ratio, 1 - CLIP, 1 + CLIP)
    pg_loss = torch.max(pg_loss1, pg_loss2).mean()

    v_loss_unclipped = (newvalue - returns) ** 2
    v_clipped = values + torch.clamp(newvalue - values, -CLIP, CLIP)
    v_loss_clipped = (v_clipped - returns) ** 2
    v_loss = 0.5 * torch.max(v_loss_unclipped, v_loss_clipped).mean()

    total = pg_loss - ENT * entropy.mean() + v_loss * VF
    return {"loss": total, "pg": pg_loss, "v": v_loss, "kl": approx_kl, "clipfrac": clipfrac}


def inputs():
    b = 6
    return (torch.randn(b, 4), torch.randn(b), torch.randint(0, 4, (b,)), -torch.rand(b) - 0.7,
            torch.randn(b), torch.randn(b), torch.randn(b))
