"""FiLM-conditioned residual block: gamma multiplies as predicted on the left, as 1 + gamma on the right (another code base's convention)."""
import torch
from torch import nn


class left(nn.Module):
    def __init__(self, c=4, cond=3):
        super().__init__()
        self.film = nn.Linear(cond, 2 * c)
        self.conv1, self.conv2 = nn.Conv1d(c, c, 1), nn.Conv1d(c, c, 3, padding=1)

    def forward(self, x, z):
        h = torch.relu(self.conv1(x))
        gamma, beta = self.film(z).unsqueeze(-1).chunk(2, 1)
        return h + torch.relu(gamma * self.conv2(h) + beta)


class right(nn.Module):
    def __init__(self, c=4, cond=3):
        super().__init__()
        ref = left(c, cond)
        self.scale, self.shift = nn.Linear(cond, c), nn.Linear(cond, c)
        self.scale.weight.data, self.shift.weight.data = ref.film.weight.data.chunk(2)
        self.scale.bias.data, self.shift.bias.data = ref.film.bias.data.chunk(2)
        self.conv1, self.conv2 = ref.conv1, ref.conv2

    def forward(self, x, z):
        h = self.conv1(x).relu()
        y = self.conv2(h)
        y = torch.addcmul(self.shift(z)[..., None], y, 1 + self.scale(z)[..., None])
        return h + y.relu()


def inputs():
    return torch.randn(2, 4, 7), torch.randn(2, 3)
