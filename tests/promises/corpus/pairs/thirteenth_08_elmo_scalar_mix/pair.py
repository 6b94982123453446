"""ELMo's weighted sum of layers, from AllenNLP to one vector of weights."""
import torch
from torch import nn


class ScalarMix(nn.Module):
    def __init__(self, mixture_size):
        super().__init__()
        self.scalar_parameters = nn.ParameterList(
            [nn.Parameter(torch.randn(1)) for _ in range(mixture_size)]
        )
        self.gamma = nn.Parameter(torch.tensor([1.3]))

    def forward(self, tensors):
        normed_weights = torch.softmax(torch.cat([p for p in self.scalar_parameters]), dim=0)
        normed_weights = torch.split(normed_weights, 1)
        pieces = []
        for weight, tensor in zip(normed_weights, tensors):
            pieces.append(weight * tensor)
        return self.gamma * sum(pieces)


class WeightedLayers(nn.Module):
    def __init__(self, mix):
        super().__init__()
        self.w = nn.Parameter(torch.cat([p.detach() for p in mix.scalar_parameters]))
        self.scale = nn.Parameter(mix.gamma.detach().clone())

    def forward(self, hidden_states):
        stacked = torch.stack(hidden_states, dim=-1)
        return self.scale * (stacked @ self.w.softmax(0))


torch.manual_seed(0)
left = ScalarMix(4)
right = WeightedLayers(left)


def inputs():
    return ([torch.randn(2, 5, 8) for _ in range(4)],)
