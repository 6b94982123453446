# EQUAL
"""PPO: advantages and loss as CleanRL computes them, with torch.distributions; and our learner, all in tensors."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(30)
GAMMA, LAMBDA, CLIP, VF, ENT = 0.99, 0.95, 0.2, 0.5, 0.01


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
        self.actor = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 3))


class CleanRL(ActorCritic):
    def forward(self, obs, actions, old_logprob, rewards, dones, values):
        # time, env
        T = rewards.shape[0]
        advantages = []
        lastgaelam = 0
        for t in reversed(range(T)):
            nonterminal = 1.0 - dones[t].float()
            delta = rewards[t] + GAMMA * values[t + 1] * nonterminal - values[t]
            lastgaelam = delta + GAMMA * LAMBDA * nonterminal * lastgaelam
            advantages.insert(0, lastgaelam)
        advantages = torch.stack(advantages)
        returns = (advantages + values[:-1]).flatten()
        adv = advantages.flatten()
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        flat = obs.flatten(0, 1)
        probs = Categorical(logits=self.actor(flat))
        logratio = probs.log_prob(actions.flatten()) - old_logprob.flatten()
        ratio = logratio.exp()
        pg_loss1 = -adv * ratio
        pg_loss2 = -adv * torch.clamp(ratio, 1 - CLIP, 1 + CLIP)
        pg_loss = torch.max(pg_loss1, pg_loss2).mean()
        newvalue = self.critic(flat).view(-1)
        v_loss = 0.5 * ((newvalue - returns) ** 2).mean()
        return pg_loss - ENT * probs.entropy().mean() + VF * v_loss


class Learner(ActorCritic):
    def forward(self, obs, actions, old_logprob, rewards, dones, values):
        T = len(rewards)
        live = (~dones).float()
        delta = torch.addcmul(rewards, GAMMA * live, values[1:]) - values[:-1]
        adv = torch.zeros_like(delta)
        for t in range(T):
            discount = torch.ones_like(delta[0])
            for s in range(t, T):
                adv[t] += discount * delta[s]
                discount = discount * (GAMMA * LAMBDA) * live[s]
        target = adv + values[:-1]
        std, mean = torch.std_mean(adv)
        adv = (adv - mean) / (std + 1e-8)
        logp = F.log_softmax(self.actor(obs), -1)
        taken = logp.gather(-1, actions[..., None])[..., 0]
        ratio = torch.exp(taken - old_logprob)
        surrogate = torch.minimum(ratio * adv, ratio.clip(1 - CLIP, 1 + CLIP) * adv)
        entropy = -(logp.exp() * logp).sum(-1)
        value = self.critic(obs)[..., 0]
        return (VF * 0.5 * F.mse_loss(value, target)) - surrogate.mean() - ENT * entropy.mean()


left = CleanRL()
right = Learner()
right.load_state_dict(left.state_dict())


def inputs():
    T, E = 5, 2
    return (torch.randn(T, E, 4), torch.randint(0, 3, (T, E)), -1.1 + 0.1 * torch.randn(T, E), torch.randn(T, E),
            torch.rand(T, E) < 0.25, torch.randn(T + 1, E))
