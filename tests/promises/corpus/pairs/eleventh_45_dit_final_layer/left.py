import torch
from torch import nn


class Left(nn.Module):
    def __init__(self, dim=12, patch=2, channels=3, classes=5):
        super().__init__()
        self.patch, self.channels = patch, channels
        self.y_embedder = nn.Embedding(classes, dim)
        self.t_embedder = nn.Sequential(nn.Linear(6, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.norm_final = nn.LayerNorm(dim, elementwise_affine=False, eps=1e-6)
        self.linear = nn.Linear(dim, patch * patch * channels)
        self.adaLN_modulation = nn.Sequential(nn.SiLU(), nn.Linear(dim, 2 * dim))

    def unpatchify(self, x, h, w):
        x = x.reshape(x.shape[0], h, w, self.patch, self.patch, self.channels)
        x = torch.einsum("nhwpqc->nchpwq", x)
        return x.reshape(x.shape[0], self.channels, h * self.patch, w * self.patch)

    def forward(self, x, t, y):
        """x [B, H, W, D], t [B, 6], y [B]"""
        h, w = x.shape[1:3]
        c = self.t_embedder(t) + self.y_embedder(y)
        shift, scale = self.adaLN_modulation(c).chunk(2, dim=1)
        x = self.norm_final(x.flatten(1, 2))
        x = x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)
        return self.unpatchify(self.linear(x), h, w)


def inputs():
    return torch.randn(2, 3, 4, 12), torch.randn(2, 6), torch.tensor([1, 4])
