# EQUAL
import torch
from torch import nn


class ConvPatches(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Conv2d(3, 8, kernel_size=2, stride=2)

    def forward(self, image):
        return self.proj(image).flatten(2).transpose(1, 2).contiguous()


class LinearPatches(nn.Module):
    def __init__(self, conv):
        super().__init__()
        self.embed = nn.Linear(12, 8)
        with torch.no_grad():
            self.embed.weight.copy_(conv.weight.reshape(8, 12))
            self.embed.bias.copy_(conv.bias)

    def forward(self, image):
        x = nn.functional.pixel_unshuffle(image, 2)      # B, 12, h, w
        b, c, h, w = x.shape
        x = x.permute(0, 2, 3, 1).reshape(b, h * w, c)
        return self.embed(x)


torch.manual_seed(0)
left = ConvPatches()
right = LinearPatches(left.proj)
inputs = (torch.randn(2, 3, 6, 8),)
