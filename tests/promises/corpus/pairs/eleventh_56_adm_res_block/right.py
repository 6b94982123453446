import torch
from torch import nn
from torch.nn import functional as F

from left import Left


class Right(nn.Module):
    def __init__(self, channels=8, emb=6, out=12, groups=4):
        super().__init__()
        theirs = Left(channels, emb, out, groups)
        self.norm1, self.conv1 = theirs.in_layers[0], theirs.in_layers[2]
        self.norm2, self.conv2 = theirs.out_norm, theirs.out_rest[2]
        self.to_scale, self.to_shift = nn.Linear(emb, out), nn.Linear(emb, out)
        for linear, weight, bias in zip(
            (self.to_scale, self.to_shift),
            theirs.emb_layers[1].weight.detach().chunk(2),
            theirs.emb_layers[1].bias.detach().chunk(2),
        ):
            linear.weight.data, linear.bias.data = weight.clone(), bias.clone()
        self.skip = nn.Linear(channels, out)
        self.skip.weight.data = theirs.skip_connection.weight.detach()[:, :, 0, 0].clone()
        self.skip.bias.data = theirs.skip_connection.bias.detach().clone()

    def forward(self, x, emb):
        h = self.norm1(x)
        h = self.conv1(h * torch.sigmoid(h))
        emb = F.silu(emb)
        gain = self.to_scale(emb)[:, :, None, None]
        h = self.norm2(h)
        h = torch.addcmul(h, h, gain) + self.to_shift(emb)[:, :, None, None]
        skip = self.skip(x.movedim(1, -1)).movedim(-1, 1)
        return self.conv2(h * torch.sigmoid(h)) + skip


def inputs():
    return torch.randn(2, 8, 4, 5), torch.randn(2, 6)
