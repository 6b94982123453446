# EQUAL
# StyleGAN2's synthesis layer: weights modulated per sample, or activations scaled before and after one shared convolution
import math
import torch
from torch import nn
import torch.nn.functional as F


class SynthesisLayer(nn.Module):
    def __init__(self, c_in=4, c_out=6, w_dim=5, k=3):
        super().__init__()
        self.affine = nn.Linear(w_dim, c_in)
        self.weight = nn.Parameter(torch.randn(c_out, c_in, k, k))
        self.bias = nn.Parameter(torch.randn(c_out))
        self.noise_strength = nn.Parameter(torch.tensor(0.7))

    def conv(self, x, styles):
        b, c, h, w = x.shape
        weight = self.weight.unsqueeze(0) * styles.reshape(b, 1, -1, 1, 1)
        dcoefs = (weight.square().sum(dim=[2, 3, 4]) + 1e-8).rsqrt()
        weight = weight * dcoefs.reshape(b, -1, 1, 1, 1)
        out = F.conv2d(x.reshape(1, b * c, h, w), weight.reshape(-1, c, 3, 3), padding=1, groups=b)
        return out.reshape(b, -1, h, w)

    def forward(self, x, w, noise):
        styles = self.affine(w) + 1
        y = self.conv(x, styles) + noise * self.noise_strength
        return F.leaky_relu(y + self.bias.reshape(1, -1, 1, 1), 0.2) * math.sqrt(2)


class ScaledLayer(SynthesisLayer):
    def conv(self, x, styles):
        energy = self.weight.square().sum((2, 3))                  # out, in
        demod = torch.rsqrt(styles.square() @ energy.T + 1e-8)
        y = F.conv2d(x * styles[:, :, None, None], self.weight, padding=1)
        return y * demod[:, :, None, None]

    def forward(self, x, w, noise):
        z = torch.addcmul(self.conv(x, 1 + self.affine(w)), noise, self.noise_strength)
        z = math.sqrt(2) * (z + self.bias[:, None, None])
        return torch.maximum(z, 0.2 * z)


torch.manual_seed(1912)
left = SynthesisLayer()
right = ScaledLayer()
right.load_state_dict(left.state_dict())
inputs = {"x": torch.randn(3, 4, 5, 5), "w": torch.randn(3, 5), "noise": torch.randn(3, 1, 5, 5)}
