# EQUAL: ViT embeddings (conv patchify, cls token, learned positions) + pre-LN block with nn.MultiheadAttention vs einops patches + linear and hand attention
import torch
from torch import nn
import torch.nn.functional as F
from einops import rearrange, repeat

C, HW, P, D, H = 3, 8, 4, 12, 3
N = (HW // P) ** 2


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = nn.Conv2d(C, D, P, stride=P)
        self.cls_token = nn.Parameter(torch.randn(1, 1, D))
        self.pos_embed = nn.Parameter(torch.randn(1, N + 1, D))
        self.norm1, self.norm2 = nn.LayerNorm(D, eps=1e-6), nn.LayerNorm(D, eps=1e-6)
        self.attn = nn.MultiheadAttention(D, H, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(D, 20), nn.GELU(), nn.Linear(20, D))

    def forward(self, img):
        x = self.patch_embed(img).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], 1) + self.pos_embed
        y = self.norm1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        x = x + self.mlp(self.norm2(x))
        return x[:, 0]


class Port(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.patch = nn.Linear(P * P * C, D)
        self.cls, self.pos = nn.Parameter(src.cls_token.detach()[0, 0].clone()), nn.Parameter(src.pos_embed.detach()[0].clone())
        self.ln1, self.ln2 = nn.LayerNorm(D, eps=1e-6), nn.LayerNorm(D, eps=1e-6)
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.fc1, self.fc2 = nn.Linear(D, 20), nn.Linear(20, D)
        with torch.no_grad():
            self.patch.weight.copy_(rearrange(src.patch_embed.weight, "d c p q -> d (p q c)"))
            self.patch.bias.copy_(src.patch_embed.bias)
            self.qkv.weight.copy_(src.attn.in_proj_weight)
            self.qkv.bias.copy_(src.attn.in_proj_bias)
        self.out.load_state_dict(src.attn.out_proj.state_dict())
        self.ln1.load_state_dict(src.norm1.state_dict())
        self.ln2.load_state_dict(src.norm2.state_dict())
        self.fc1.load_state_dict(src.mlp[0].state_dict())
        self.fc2.load_state_dict(src.mlp[2].state_dict())

    def forward(self, img):
        x = rearrange(img, "b c (h p) (w q) -> b (h w) (p q c)", p=P, q=P)
        x = self.patch(x)
        x = torch.cat([repeat(self.cls, "d -> b 1 d", b=x.shape[0]), x], 1)
        x = x + self.pos
        q, k, v = rearrange(self.qkv(self.ln1(x)), "b n (s h d) -> s b h n d", s=3, h=H)
        a = (q @ k.mT * (D // H) ** -0.5).softmax(-1)
        x = x + self.out(rearrange(a @ v, "b h n d -> b n (h d)"))
        c = x[:, 0]
        return c + self.fc2(F.gelu(self.fc1(self.ln2(c))))


left = ViT()
right = Port(left)


def inputs():
    return (torch.randn(2, C, HW, HW),)
