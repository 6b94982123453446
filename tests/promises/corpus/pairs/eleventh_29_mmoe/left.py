import torch
from torch import nn


class Left(nn.Module):
    def __init__(self, dim=8, experts=4, hidden=6, tasks=2):
        super().__init__()
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(dim, hidden), nn.ReLU()) for _ in range(experts)])
        self.gates = nn.ModuleList([nn.Linear(dim, experts, bias=False) for _ in range(tasks)])
        self.towers = nn.ModuleList(
            [nn.Sequential(nn.Linear(hidden, 5), nn.ReLU(), nn.Linear(5, 1)) for _ in range(tasks)]
        )

    def forward(self, x):
        outputs = torch.stack([expert(x) for expert in self.experts], dim=1)
        results = []
        for gate, tower in zip(self.gates, self.towers):
            weight = torch.softmax(gate(x), dim=-1).unsqueeze(1)
            mixed = torch.matmul(weight, outputs).squeeze(1)
            results.append(torch.sigmoid(tower(mixed)).squeeze(-1))
        return tuple(results)


def inputs():
    return (torch.randn(5, 8),)
