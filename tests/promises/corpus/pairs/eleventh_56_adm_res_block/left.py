import torch
from torch import nn


class Left(nn.Module):
    def __init__(self, channels=8, emb=6, out=12, groups=4):
        super().__init__()
        self.in_layers = nn.Sequential(nn.GroupNorm(groups, channels), nn.SiLU(), nn.Conv2d(channels, out, 3, padding=1))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb, 2 * out))
        self.out_norm, self.out_rest = nn.GroupNorm(groups, out), nn.Sequential(nn.SiLU(), nn.Dropout(0.1), nn.Conv2d(out, out, 3, padding=1))
        self.skip_connection = nn.Conv2d(channels, out, 1)
        for norm in (self.in_layers[0], self.out_norm):
            nn.init.normal_(norm.weight, 1.0, 0.3)
            nn.init.normal_(norm.bias, 0.0, 0.3)
        self.eval()

    def forward(self, x, emb):
        h = self.in_layers(x)
        emb_out = self.emb_layers(emb)
        while len(emb_out.shape) < len(h.shape):
            emb_out = emb_out[..., None]
        scale, shift = torch.chunk(emb_out, 2, dim=1)
        h = self.out_norm(h) * (1 + scale) + shift
        return self.skip_connection(x) + self.out_rest(h)


def inputs():
    return torch.randn(2, 8, 4, 5), torch.randn(2, 6)
