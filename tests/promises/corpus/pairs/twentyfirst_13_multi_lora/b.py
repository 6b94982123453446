"""Gathered adapters (as in punica): all low-rank matrices stand in one tensor; -1 is a row of zeros at the end."""
import torch
from torch import nn

import a


class GatheredLora(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.weight, self.bias = m.base.weight, m.base.bias
        self.lora_a = nn.Parameter(torch.stack([p.detach().T for p in m.A]))          # n in r
        self.lora_b = nn.Parameter(torch.stack([p.detach().T for p in m.B]))          # n r out
        self.register_buffer("scaling", torch.tensor(m.scaling + [0.0]))

    def forward(self, x, adapter):
        shape = x.shape
        tokens, which = x.reshape(-1, shape[-1]), adapter.reshape(-1)
        none = which < 0
        index = which.clamp(min=0)
        shrink = torch.bmm(tokens.unsqueeze(1), self.lora_a[index])
        expand = torch.bmm(shrink, self.lora_b[index]).squeeze(1)
        scale = self.scaling[torch.where(none, self.scaling.shape[0] - 1, which)]
        y = torch.addmm(self.bias, tokens, self.weight.T)
        y = y + expand * scale.to(y.dtype).unsqueeze(-1)
        return y.reshape(*shape[:-1], -1)


def make():
    return GatheredLora(a.LoraLinear())
