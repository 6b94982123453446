# EQUAL
"""WaveNet residual layer of a vocoder: weight-normed causal convs as trained; g and v by hand, one conv and a split, at export."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(24)
RES, SKIP, COND, K, DIL = 6, 5, 4, 3, 2


class ResidualLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.filter_conv = weight_norm(nn.Conv1d(RES, RES, K, dilation=DIL))
        self.gate_conv = weight_norm(nn.Conv1d(RES, RES, K, dilation=DIL))
        self.cond = weight_norm(nn.Conv1d(COND, 2 * RES, 1, bias=False))
        self.res = weight_norm(nn.Conv1d(RES, RES, 1))
        self.skip = weight_norm(nn.Conv1d(RES, SKIP, 1))

    def forward(self, x, c):
        padded = nn.functional.pad(x, ((K - 1) * DIL, 0))
        cf, cg = self.cond(c).chunk(2, dim=1)
        z = torch.tanh(self.filter_conv(padded) + cf) * torch.sigmoid(self.gate_conv(padded) + cg)
        return (x + self.res(z)) * 0.5 ** 0.5, self.skip(z)


class Exported(nn.Module):
    def __init__(self, layer):
        super().__init__()
        for name in ("filter_conv", "gate_conv", "cond", "res", "skip"):
            conv = getattr(layer, name)
            g, v = conv.parametrizations.weight.original0, conv.parametrizations.weight.original1
            self.register_parameter(name + "_g", nn.Parameter(g.detach().clone()))
            self.register_parameter(name + "_v", nn.Parameter(v.detach().clone()))
            if conv.bias is not None:
                self.register_parameter(name + "_b", nn.Parameter(conv.bias.detach().clone()))

    def weight(self, name):
        g, v = getattr(self, name + "_g"), getattr(self, name + "_v")
        return g * v / v.square().sum((1, 2), keepdim=True).sqrt()

    def forward(self, x, c):
        w = torch.cat([self.weight("filter_conv"), self.weight("gate_conv")])
        b = torch.cat([self.filter_conv_b, self.gate_conv_b])
        h = F.conv1d(x, w, b, padding=(K - 1) * DIL, dilation=DIL)[..., :x.shape[-1]]
        h = h + F.conv1d(c, self.weight("cond"))
        z = h[:, :RES].tanh() * h[:, RES:].sigmoid()
        out = F.conv1d(z, torch.cat([self.weight("res"), self.weight("skip")]), torch.cat([self.res_b, self.skip_b]))
        residual, skip = out.split([RES, SKIP], dim=1)
        return (residual + x) / 2 ** 0.5, skip.contiguous()


left = ResidualLayer().eval()
for n, p in left.named_parameters():
    if n.endswith("original0"):
        p.data.mul_(1 + 0.2 * torch.rand_like(p))
right = Exported(left).eval()
inputs = (torch.randn(2, RES, 15), torch.randn(2, COND, 15))
