# EQUAL. ViT patch embedding with cls token and positions: conv vs unfold + linear
import torch
from torch import nn


class PatchEmbedConv(nn.Module):
    def __init__(self, img=12, p=4, c=3, d=16):
        super().__init__()
        self.proj = nn.Conv2d(c, d, kernel_size=p, stride=p)
        self.cls_token = nn.Parameter(torch.randn(1, 1, d) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, (img // p) ** 2 + 1, d) * 0.02)

    def forward(self, pixel_values):
        x = self.proj(pixel_values).flatten(2).transpose(1, 2)
        cls = self.cls_token.expand(x.shape[0], -1, -1)
        return torch.cat((cls, x), dim=1) + self.pos_embed


class PatchEmbedLinear(nn.Module):
    def __init__(self, other, p=4):
        super().__init__()
        w = other.proj.weight.detach()
        self.p = p
        self.to_patch = nn.Linear(w[0].numel(), w.shape[0])
        self.to_patch.weight = nn.Parameter(w.reshape(w.shape[0], -1).clone())
        self.to_patch.bias = nn.Parameter(other.proj.bias.detach().clone())
        self.register_buffer("cls", other.cls_token.detach()[0, 0].clone())
        self.register_buffer("pos", other.pos_embed.detach()[0].clone())

    def forward(self, pixel_values):
        cols = nn.functional.unfold(pixel_values, self.p, stride=self.p)      # B, C*p*p, N
        tok = self.to_patch(cols.mT) + self.pos[1:]
        first = (self.cls + self.pos[0]).repeat(tok.size(0), 1)
        return torch.cat([first.unsqueeze(1), tok], 1)


torch.manual_seed(0)
left = PatchEmbedConv()
right = PatchEmbedLinear(left)
inputs = (torch.randn(2, 3, 12, 12),)
