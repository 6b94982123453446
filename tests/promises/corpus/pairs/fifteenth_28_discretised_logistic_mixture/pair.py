"""A mixture of discretised logistics over pixels of 5 bits: published code, and a shorter one."""
import torch
from torch import nn
from torch.nn import functional as F

BITS, MIX = 5, 3
TOP = 2**BITS - 1


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 3 * MIX)


class Published(Base):
    def forward(self, context, pixel):
        logits, means, log_scales = self.net(context).chunk(3, dim=-1)
        log_scales = log_scales.clamp(min=-7.0)
        x = (2 * pixel.to(context.dtype) / TOP - 1).unsqueeze(-1)
        centred = x - means
        inv = torch.exp(-log_scales)
        plus_in, min_in = inv * (centred + 1 / TOP), inv * (centred - 1 / TOP)
        delta = torch.sigmoid(plus_in) - torch.sigmoid(min_in)
        log_plus, log_one_minus = plus_in - F.softplus(plus_in), -F.softplus(min_in)
        log_prob = torch.where(
            x < -0.999, log_plus, torch.where(x > 0.999, log_one_minus, torch.log(delta.clamp(min=1e-12)))
        )
        return -torch.logsumexp(log_prob + torch.log_softmax(logits, -1), dim=-1)


class Shorter(Base):
    def forward(self, context, pixel):
        logits, means, log_scales = self.net(context).unflatten(-1, (3, MIX)).unbind(-2)
        scale = log_scales.clamp(min=-7.0).exp()
        x = 2 * pixel.to(context.dtype)[..., None] / TOP - 1
        half = 1 / 2**BITS
        upper = torch.where(x > 0.999, 1.0, torch.sigmoid((x - means + half) / scale))
        lower = torch.where(x < -0.999, 0.0, torch.sigmoid((x - means - half) / scale))
        mass = (upper - lower).clamp(min=1e-12)
        return -torch.log((logits.softmax(-1) * mass).sum(-1))


def left():
    return Published()


def right():
    return Shorter()


def inputs():
    return torch.randn(3, 4, 6), torch.randint(0, TOP + 1, (3, 4))
