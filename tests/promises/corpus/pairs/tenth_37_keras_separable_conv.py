# EQUAL
# keras.layers.SeparableConv2D with depth_multiplier 2 and "same" padding at stride 2, channels last, ported to torch
import torch
from torch import nn
import torch.nn.functional as F

CIN, MULT, COUT, K, STRIDE = 3, 2, 5, 3, 2


def same_pad(size):
    total = max((-(-size // STRIDE) - 1) * STRIDE + K - size, 0)
    return total // 2, total - total // 2


class KerasSeparable(nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise_kernel = nn.Parameter(torch.randn(K, K, CIN, MULT))
        self.pointwise_kernel = nn.Parameter(torch.randn(1, 1, CIN * MULT, COUT))
        self.bias = nn.Parameter(torch.randn(COUT))

    def forward(self, x):
        """x [B, H, W, C]; by extracting the taps."""
        B, H, W, C = x.shape
        (top, bottom), (lft, rgt) = same_pad(H), same_pad(W)
        padded = F.pad(x, (0, 0, lft, rgt, top, bottom))
        oh, ow = -(-H // STRIDE), -(-W // STRIDE)
        acc = 0
        for i in range(K):
            for j in range(K):
                tap = padded[:, i:i + STRIDE * (oh - 1) + 1:STRIDE, j:j + STRIDE * (ow - 1) + 1:STRIDE]
                acc = acc + tap.unsqueeze(-1) * self.depthwise_kernel[i, j]
        y = acc.reshape(B, oh, ow, C * MULT) @ self.pointwise_kernel[0, 0] + self.bias
        return F.elu(y)


class TorchSeparable(nn.Module):
    def __init__(self):
        super().__init__()
        k = KerasSeparable()
        self.depthwise = nn.Conv2d(CIN, CIN * MULT, K, stride=STRIDE, groups=CIN, bias=False)
        self.pointwise = nn.Conv2d(CIN * MULT, COUT, 1)
        with torch.no_grad():
            self.depthwise.weight.copy_(k.depthwise_kernel.permute(2, 3, 0, 1).reshape(CIN * MULT, 1, K, K))
            self.pointwise.weight.copy_(k.pointwise_kernel.permute(3, 2, 0, 1))
            self.pointwise.bias.copy_(k.bias)

    def forward(self, x):
        x = x.permute(0, 3, 1, 2)
        ph, pw = same_pad(x.size(2)), same_pad(x.size(3))
        y = self.pointwise(self.depthwise(F.pad(x, (*pw, *ph))))
        return F.elu(y).permute(0, 2, 3, 1)


left, right = KerasSeparable, TorchSeparable


def inputs():
    return (torch.randn(2, 6, 8, CIN),)
