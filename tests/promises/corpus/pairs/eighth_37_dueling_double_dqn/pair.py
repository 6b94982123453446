"""Double DQN with dueling heads and importance weights of prioritised replay."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

GAMMA = 0.97


class Dueling(nn.Module):
    def __init__(self, obs=5, hid=16, act=4):
        super().__init__()
        self.body = nn.Linear(obs, hid)
        self.value = nn.Linear(hid, 1)
        self.adv = nn.Linear(hid, act)

    def forward(self, s):
        z = torch.relu(self.body(s))
        a = self.adv(z)
        return self.value(z) + a - a.mean(dim=-1, keepdim=True)


class Agent(nn.Module):
    def __init__(self, online, target):
        super().__init__()
        self.online, self.target = online, target

    def forward(self, s, a, r, s2, done, w):
        q = self.online(s).gather(1, a.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.online(s2).argmax(1, keepdim=True)
            nxt = self.target(s2).gather(1, best).squeeze(1)
            y = r + GAMMA * nxt * (~done)
        td = y - q
        return (w * td.pow(2)).mean(), td.detach().abs()


class AgentOneHot(nn.Module):
    def __init__(self, online, target, act=4):
        super().__init__()
        self.act = act
        self.q, self.q_target = copy.deepcopy(online), copy.deepcopy(target)

    @staticmethod
    def heads(net, s):
        z = F.relu(F.linear(s, net.body.weight, net.body.bias))
        va = F.linear(z, torch.cat([net.value.weight, net.adv.weight]), torch.cat([net.value.bias, net.adv.bias]))
        v, a = va[:, :1], va[:, 1:]
        return v + (a - a.sum(1, keepdim=True) / a.size(1))

    def forward(self, s, a, r, s2, done, w):
        pick = F.one_hot(a, self.act).to(s.dtype)
        chosen = (self.heads(self.q, s) * pick).sum(1)
        greedy = F.one_hot(self.heads(self.q, s2).argmax(-1), self.act).to(s.dtype)
        boot = torch.einsum("ba,ba->b", self.heads(self.q_target, s2), greedy)
        y = torch.add(r, boot.masked_fill(done, 0.0), alpha=GAMMA).detach()
        err = chosen - y
        return torch.dot(w, err * err) / err.numel(), err.abs().detach()


torch.manual_seed(3)
online, target = Dueling(), Dueling()
left, right = Agent(online, target), AgentOneHot(online, target)


def inputs():
    B = 6
    return torch.randn(B, 5), torch.randint(0, 4, (B,)), torch.randn(B), torch.randn(B, 5), torch.rand(B) < 0.4, torch.rand(B)
