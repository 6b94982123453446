import torch
from torch import nn

from a import program as original


class Patchify(nn.Module):
    """Patches as rows (in the order p, p, c, as einops and JAX have it), and one linear."""

    def __init__(self, embed):
        super().__init__()
        self.patch = embed.proj.kernel_size[0]
        kernel = embed.proj.weight.detach().permute(2, 3, 1, 0)
        self.kernel = nn.Parameter(kernel.reshape(-1, kernel.shape[-1]).contiguous())
        self.bias = nn.Parameter(embed.proj.bias.detach().clone())
        self.cls = nn.Parameter(embed.cls_token.detach()[0, 0].clone())
        self.pos = nn.Parameter(embed.pos_embed.detach()[0].clone())

    def forward(self, pixels):
        b, c, h, w = pixels.shape
        p = self.patch
        x = pixels.reshape(b, c, h // p, p, w // p, p)
        x = x.permute(0, 2, 4, 3, 5, 1).reshape(b, (h // p) * (w // p), p * p * c)
        tokens = x @ self.kernel + self.bias + self.pos[1:]
        first = (self.cls + self.pos[0]).repeat(b, 1, 1)
        return torch.cat([first, tokens], dim=1)


program = Patchify(original).eval()
