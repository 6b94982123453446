"""The same with the gradient written out: no gradient where the ratio left the trust region on the profitable side."""
import torch
from a import ACTIONS, CLIP, ENTROPY_COEF, VALUE_COEF, Agent
from torch.nn import functional as F


class PPOByHand:
    def __init__(self):
        self.agent = Agent()

    @torch.no_grad()
    def __call__(self, observation, action, old_log_prob, advantage, returns):
        actor, critic = self.agent.actor, self.agent.critic
        n = observation.shape[0]
        p = torch.softmax(observation @ actor.weight.T + actor.bias, dim=-1)
        log_p = p.log()
        chosen = F.one_hot(action, ACTIONS).to(p.dtype)
        ratio = torch.exp((chosen * log_p).sum(-1) - old_log_prob)
        too_good = (advantage > 0) & (ratio > 1 + CLIP)
        too_bad = (advantage < 0) & (ratio < 1 - CLIP)
        bound = torch.where(too_good, 1 + CLIP, torch.where(too_bad, 1 - CLIP, ratio))
        error = observation @ critic.weight[0] + critic.bias - returns
        entropy = -(p * log_p).sum(-1)
        loss = -(advantage * bound).mean() + VALUE_COEF * error.square().mean() - ENTROPY_COEF * entropy.mean()

        slope = torch.where(too_good | too_bad, 0.0, -advantage * ratio)
        d_logits = slope[:, None] * (chosen - p)
        d_logits = d_logits + ENTROPY_COEF * p * (log_p + entropy[:, None])
        d_logits = d_logits / n
        d_value = 2 * VALUE_COEF * error / n
        grads = (
            d_logits.T @ observation,
            d_logits.sum(0),
            (d_value @ observation)[None],
            d_value.sum().view(1),
        )
        return loss, grads
