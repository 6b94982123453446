import torch
from torch import nn

torch.manual_seed(112)


class Up(nn.Module):
    def __init__(self, c_low=4, c_skip=3, c_out=5):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.conv = nn.Conv2d(c_skip + c_low, c_out, 3, padding=1)
        self.act = nn.LeakyReLU(0.2)

    def forward(self, low, skip):
        return self.act(self.conv(torch.cat([skip, self.up(low)], dim=1)))


class UpWithoutConcat(nn.Module):
    """Saves the concatenated map, which is the largest of the decoder."""

    def __init__(self, c_low=4, c_skip=3, c_out=5):
        super().__init__()
        self.from_skip = nn.Conv2d(c_skip, c_out, 3, padding=1)
        self.from_low = nn.Conv2d(c_low, c_out, 3, padding=1, bias=False)

    def load(self, up):
        c = self.from_skip.in_channels
        with torch.no_grad():
            self.from_skip.weight.copy_(up.conv.weight[:, :c])
            self.from_low.weight.copy_(up.conv.weight[:, c:])
            self.from_skip.bias.copy_(up.conv.bias)
        return self

    def forward(self, low, skip):
        n, c, h, w = low.shape
        big = low[:, :, :, None, :, None].expand(n, c, h, 2, w, 2).reshape(n, c, 2 * h, 2 * w)
        y = self.from_skip(skip) + self.from_low(big)
        return torch.maximum(y, 0.2 * y)


left = Up()
right = UpWithoutConcat().load(left)
inputs = (torch.randn(2, 4, 3, 4), torch.randn(2, 3, 6, 8))
