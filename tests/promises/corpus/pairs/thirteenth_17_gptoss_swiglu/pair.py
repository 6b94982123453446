"""The clamped SwiGLU of gpt-oss, with the interleaved projection and with two of them."""
import torch
from torch import nn

ALPHA = 1.702
LIMIT = 7.0


class Interleaved(nn.Module):
    def __init__(self, hidden=8, inter=6):
        super().__init__()
        self.gate_up_proj = nn.Linear(hidden, 2 * inter)
        self.down_proj = nn.Linear(inter, hidden)

    def forward(self, x):
        gate_up = self.gate_up_proj(x)
        gate, up = gate_up[..., ::2], gate_up[..., 1::2]
        gate = gate.clamp(min=None, max=LIMIT)
        up = up.clamp(min=-LIMIT, max=LIMIT)
        glu = gate * torch.sigmoid(gate * ALPHA)
        return self.down_proj((up + 1) * glu)


class Separate(nn.Module):
    def __init__(self, source):
        super().__init__()
        w, b = source.gate_up_proj.weight.detach(), source.gate_up_proj.bias.detach()
        self.w1 = nn.Parameter(w[0::2].clone())
        self.b1 = nn.Parameter(b[0::2].clone())
        self.w3 = nn.Parameter(w[1::2].clone())
        self.b3 = nn.Parameter(b[1::2].clone())
        self.w2 = nn.Parameter(source.down_proj.weight.detach().clone())
        self.b2 = nn.Parameter(source.down_proj.bias.detach().clone())

    def forward(self, x):
        gate = torch.clamp_max(x @ self.w1.T + self.b1, LIMIT)
        up = nn.functional.hardtanh(x @ self.w3.T + self.b3, -LIMIT, LIMIT)
        act = gate / (1 + torch.exp(-ALPHA * gate))
        return (act + up * act) @ self.w2.T + self.b2


torch.manual_seed(0)
left = Interleaved()
right = Separate(left)
inputs = (torch.randn(3, 4, 8) * 6,)
