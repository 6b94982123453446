"""NAFNet block in channels-last style: pointwise convolutions are linears, the norm is F.layer_norm."""
import importlib.util
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

_spec = importlib.util.spec_from_file_location("nafnet_reference", pathlib.Path(__file__).with_name("a.py"))
_ref = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_ref)


def pointwise(conv):
    out = nn.Linear(conv.in_channels, conv.out_channels)
    out.weight.data = conv.weight.detach().flatten(1).clone()
    out.bias.data = conv.bias.detach().clone()
    return out


class NHWCBlock(nn.Module):
    def __init__(self):
        super().__init__()
        src = _ref.NAFBlock()
        self.expand, self.project = pointwise(src.conv1), pointwise(src.conv3)
        self.mix = src.conv2
        self.channel = pointwise(src.sca[1])
        self.up, self.down = pointwise(src.conv4), pointwise(src.conv5)
        self.norm1 = nn.ParameterList([src.norm1.weight, src.norm1.bias])
        self.norm2 = nn.ParameterList([src.norm2.weight, src.norm2.bias])
        self.skip1 = nn.Parameter(src.beta.detach().flatten().clone())
        self.skip2 = nn.Parameter(src.gamma.detach().flatten().clone())

    @staticmethod
    def gate(h):
        half = h.size(-1) // 2
        return h[..., :half] * h[..., half:]

    def forward(self, image):
        x = image.permute(0, 2, 3, 1)
        h = self.expand(F.layer_norm(x, x.shape[-1:], *self.norm1, eps=1e-6))
        h = self.mix(h.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        h = self.gate(h)
        h = h * self.channel(h.mean(dim=(1, 2)))[:, None, None, :]
        x = torch.addcmul(x, self.project(h), self.skip1)
        h = self.gate(self.up(F.layer_norm(x, x.shape[-1:], *self.norm2, eps=1e-6)))
        x = torch.addcmul(x, self.down(h), self.skip2)
        return x.permute(0, 3, 1, 2).contiguous()
