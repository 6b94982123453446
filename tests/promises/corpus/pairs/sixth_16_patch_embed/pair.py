import torch
from torch import nn

torch.manual_seed(0)


class PatchEmbed(nn.Module):
    def __init__(self, img=8, patch=4, chans=3, dim=12):
        super().__init__()
        self.proj = nn.Conv2d(chans, dim, kernel_size=patch, stride=patch)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, (img // patch) ** 2 + 1, dim) * 0.02)

    def forward(self, x):
        x = self.proj(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1)
        return x + self.pos_embed


class PatchLinear(nn.Module):
    def __init__(self, ref, patch=4):
        super().__init__()
        self.p = patch
        # pixels as (row, column, channel), as in the JAX code
        self.kernel = nn.Parameter(ref.proj.weight.detach().permute(2, 3, 1, 0).reshape(-1, 12).clone())
        self.bias = nn.Parameter(ref.proj.bias.detach().clone())
        self.cls = nn.Parameter(ref.cls_token.detach().reshape(12).clone())
        self.pos = nn.Parameter(ref.pos_embed.detach()[0].clone())

    def forward(self, images):
        b, c, h, w = images.shape
        p = self.p
        x = images.permute(0, 2, 3, 1).reshape(b, h // p, p, w // p, p, c)
        x = x.permute(0, 1, 3, 2, 4, 5).reshape(b, (h // p) * (w // p), p * p * c)
        out = images.new_empty(b, x.shape[1] + 1, 12)
        out[:, 0] = self.cls
        out[:, 1:] = x @ self.kernel + self.bias
        out += self.pos
        return out


left = PatchEmbed()
right = PatchLinear(left)
inputs = (torch.randn(2, 3, 8, 8),)
