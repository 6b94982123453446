import copy
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(3)


@dataclass
class Hyper:
    clip: float = 0.2
    vf_coef: float = 0.5
    ent_coef: float = 0.01
    lr: float = 3e-3


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.pi = nn.Linear(8, 3)
        self.v = nn.Linear(8, 1)

    def forward(self, obs):
        h = torch.tanh(self.body(obs))
        return self.pi(h), self.v(h).squeeze(-1)


class CleanStyle(nn.Module):
    def __init__(self, net, hp=Hyper()):
        super().__init__()
        self.net, self.hp = net, hp
        self.opt = torch.optim.SGD(net.parameters(), lr=hp.lr)

    def forward(self, obs, actions, old_logp, returns, old_values):
        hp = self.hp
        logits, value = self.net(obs)
        dist = Categorical(logits=logits, validate_args=False)
        ratio = (dist.log_prob(actions) - old_logp).exp()
        adv = returns - old_values
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        pg = torch.max(-adv * ratio, -adv * ratio.clamp(1 - hp.clip, 1 + hp.clip)).mean()
        v_clipped = old_values + (value - old_values).clamp(-hp.clip, hp.clip)
        v_loss = 0.5 * torch.max((value - returns) ** 2, (v_clipped - returns) ** 2).mean()
        ent = dist.entropy().mean()
        loss = pg + hp.vf_coef * v_loss - hp.ent_coef * ent
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.opt.zero_grad()
        return {"pg": pg.detach(), "v": v_loss.detach(), "ent": ent.detach()}


class BaselinesStyle(nn.Module):
    def __init__(self, net, hp=Hyper()):
        super().__init__()
        self.net, self.hp = net, hp
        self.opt = torch.optim.SGD(net.parameters(), lr=hp.lr)

    @staticmethod
    def normalise(a):
        mean = a.sum() / a.numel()
        return (a - mean) / (((a - mean) ** 2).mean().sqrt() + 1e-8)

    def forward(self, obs, actions, old_logp, returns, old_values):
        hp = self.hp
        logits, value = self.net(obs)
        logp_all = logits.log_softmax(-1)
        logp = logp_all.gather(1, actions[:, None])[:, 0]
        neg_ent = (logp_all.exp() * logp_all).sum(1).mean()
        ratio = torch.exp(logp - old_logp)
        adv = self.normalise(returns - old_values)
        surr = torch.min(ratio * adv, ratio.clamp(1 - hp.clip, 1 + hp.clip) * adv)
        pg = -surr.mean()
        v_clipped = old_values + (value - old_values).clamp(-hp.clip, hp.clip)
        v_loss = 0.5 * torch.max((value - returns) ** 2, (v_clipped - returns) ** 2).mean()
        self.opt.zero_grad()
        (pg + hp.ent_coef * neg_ent + hp.vf_coef * v_loss).backward()
        self.opt.step()
        self.opt.zero_grad()
        return {"pg": pg.detach(), "v": v_loss.detach(), "ent": -neg_ent.detach()}


_net = ActorCritic()
left = CleanStyle(_net)
right = BaselinesStyle(copy.deepcopy(_net))


def inputs():
    n = 12
    return dict(
        obs=torch.randn(n, 4),
        actions=torch.randint(0, 3, (n,)),
        old_logp=-torch.rand(n) - 0.5,
        returns=torch.randn(n),
        old_values=torch.randn(n),
    )
