"""Munchausen DQN: the regression target of Vieillard et al., written in the stable form of the authors' code."""
import torch
from torch import nn
from torch.nn import functional as F

TAU, ALPHA, CLIP, GAMMA = 0.03, 0.9, -1.0, 0.99


def stable_scaled_log_softmax(x, tau, axis=-1):
    max_x = x.amax(dim=axis, keepdim=True)
    y = x - max_x
    tau_lse = max_x + tau * torch.log(torch.sum(torch.exp(y / tau), dim=axis, keepdim=True))
    return x - tau_lse


def stable_softmax(x, tau, axis=-1):
    y = x - x.amax(dim=axis, keepdim=True)
    return torch.softmax(y / tau, dim=axis)


class Agent(nn.Module):
    def __init__(self, observation=5, actions=4):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(observation, 8), nn.ReLU(), nn.Linear(8, actions))
        self.target = nn.Sequential(nn.Linear(observation, 8), nn.ReLU(), nn.Linear(8, actions))

    def forward(self, state, action, reward, next_state, terminal):
        with torch.no_grad():
            q, next_q = self.target(state), self.target(next_state)
            tau_log_pi_next = stable_scaled_log_softmax(next_q, TAU)
            pi_target = stable_softmax(next_q, TAU)
            replay_log_policy = stable_scaled_log_softmax(q, TAU)
            action_one_hot = F.one_hot(action, q.shape[-1]).to(q.dtype)
            tau_log_pi_a = torch.sum(replay_log_policy * action_one_hot, dim=1)
            tau_log_pi_a = torch.clamp(tau_log_pi_a, min=CLIP, max=0)
            munchausen_term = ALPHA * tau_log_pi_a
            alive = 1.0 - terminal.to(q.dtype)
            next_qt_softmax = torch.sum((next_q - tau_log_pi_next) * pi_target, dim=1)
            target = reward + munchausen_term + GAMMA * next_qt_softmax * alive
        chosen = torch.sum(self.online(state) * action_one_hot, dim=1)
        return F.smooth_l1_loss(chosen, target)


def inputs():
    n = 6
    return torch.randn(n, 5), torch.randint(0, 4, (n,)), torch.randn(n), torch.randn(n, 5), torch.rand(n) < 0.3
