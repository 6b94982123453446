"""Serving several LoRA adapters in one batch: loop over adapters, or gather per request."""
import torch
from torch import nn


class LoopOverAdapters(nn.Module):
    def __init__(self, dim=8, out=10, rank=2, adapters=3):
        super().__init__()
        self.base = nn.Linear(dim, out)
        self.lora_a = nn.ParameterList([nn.Parameter(torch.randn(rank, dim)) for _ in range(adapters)])
        self.lora_b = nn.ParameterList([nn.Parameter(torch.randn(out, rank)) for _ in range(adapters)])
        self.scaling = [0.5, 1.0, 2.0]

    def forward(self, x, adapter_ids):
        y = self.base(x)
        for i, (a, b) in enumerate(zip(self.lora_a, self.lora_b)):
            chosen = (adapter_ids == i)[:, None, None]
            y = torch.where(chosen, y + self.scaling[i] * ((x @ a.T) @ b.T), y)
        return y


class Gathered(nn.Module):
    """Adapters stacked; the scaling is merged into B."""

    def __init__(self, loop):
        super().__init__()
        self.base = nn.Linear(8, 10)
        self.base.load_state_dict(loop.base.state_dict())
        self.a_stacked = nn.Parameter(torch.stack([a.detach() for a in loop.lora_a]))
        self.b_stacked = nn.Parameter(torch.stack([b.detach() * s for b, s in zip(loop.lora_b, loop.scaling)]))

    def forward(self, x, adapter_ids):
        slot = adapter_ids.clamp(min=0)
        shrunk = torch.bmm(x, self.a_stacked[slot].transpose(1, 2))
        delta = torch.bmm(shrunk, self.b_stacked[slot].transpose(1, 2))
        return self.base(x) + delta * (adapter_ids >= 0)[:, None, None]


torch.manual_seed(16)
left = LoopOverAdapters()
right = Gathered(left)


def inputs():
    return torch.randn(5, 3, 8), torch.tensor([2, 0, -1, 1, 2])
