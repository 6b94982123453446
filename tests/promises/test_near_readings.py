"""What a reading of stored numbers leaves may be its own rounding, and makes no two programs different."""

from __future__ import annotations

import torch
from torch import nn

from samesame import check

MEAN, STD = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])


class Normalised(nn.Module):
    """Normalises an image of bytes, then convolves."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 4, stride=4)

    def forward(self, image):
        return self.conv((image.float() / 255 - MEAN[:, None, None]) / STD[:, None, None])


class Folded(nn.Module):
    """The same in the convolution's weights, worked out in another order; `scale` is what a byte is divided by."""

    def __init__(self, of: Normalised, scale: float = 255.0) -> None:
        super().__init__()
        weight = of.conv.weight.detach()
        self.conv = nn.Conv2d(3, 8, 4, stride=4)
        self.conv.weight.data = weight / (scale * STD).view(1, 3, 1, 1)
        self.conv.bias.data = of.conv.bias.detach() - (weight * (MEAN / STD).view(1, 3, 1, 1)).sum((1, 2, 3))

    def forward(self, image):
        return self.conv(image.float())


def test_a_folded_normalisation_is_not_different_by_its_rounding() -> None:
    torch.manual_seed(18)
    left, image = Normalised().eval(), torch.randint(0, 256, (2, 3, 16, 16), dtype=torch.uint8)
    assert check(left, Folded(left).eval(), (image,)).verdict != "different"
    assert check(left, Folded(left, 256.0).eval(), (image,)).verdict == "different"
