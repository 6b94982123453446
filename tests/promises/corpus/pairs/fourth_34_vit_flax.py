# EQUAL
"""ViT's embedding with registers, pooled: torch's patch convolution, and big_vision's HWIO kernel over extracted patches."""
import torch
import torch.nn as nn

torch.manual_seed(34)
P, D, REG = 4, 12, 2


class Embed(nn.Module):
    def __init__(self, size=16):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, D, P, P)
        n = (size // P) ** 2
        self.cls_token = nn.Parameter(torch.randn(1, 1, D) * 0.02)
        self.reg_token = nn.Parameter(torch.randn(1, REG, D) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, 1 + n, D) * 0.02)
        self.norm = nn.LayerNorm(D, eps=1e-6)

    def forward(self, img):
        x = self.patch_embed(img).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1)
        x = x + self.pos_embed
        x = torch.cat((x[:, :1], self.reg_token.expand(x.shape[0], -1, -1), x[:, 1:]), dim=1)
        x = self.norm(x)
        return x[:, 0], x[:, 1 + REG:].mean(1)


class FlaxStyle(nn.Module):
    """Images are NHWC."""

    def __init__(self, e):
        super().__init__()
        self.kernel = nn.Parameter(e.patch_embed.weight.detach().permute(2, 3, 1, 0).contiguous())
        self.bias = nn.Parameter(e.patch_embed.bias.detach().clone())
        self.prefix = nn.Parameter(torch.cat([e.cls_token + e.pos_embed[:, :1], e.reg_token], 1).detach().clone())
        self.pos = nn.Parameter(e.pos_embed.detach()[:, 1:].clone())
        self.scale = nn.Parameter(e.norm.weight.detach().clone())
        self.offset = nn.Parameter(e.norm.bias.detach().clone())

    def layer_norm(self, x):
        mean = x.mean(-1, keepdim=True)
        mean2 = (x * x).mean(-1, keepdim=True)
        return (x - mean) * torch.rsqrt(mean2 - mean * mean + 1e-6) * self.scale + self.offset

    def forward(self, img):
        x = img.permute(0, 2, 3, 1)
        b, h, w, c = x.shape
        x = x.reshape(b, h // P, P, w // P, P, c).transpose(2, 3).reshape(b, -1, P * P * c)
        x = x @ self.kernel.reshape(-1, D) + self.bias + self.pos
        pre = self.layer_norm(self.prefix)
        x = self.layer_norm(x)
        return pre[:, 0].repeat(b, 1), x.sum(1) / x.shape[1]


left = Embed().eval()
right = FlaxStyle(left).eval()
inputs = (torch.randn(2, 3, 16, 16),)
