"""A GPT-NeoX layer (parallel residual, partial rotary) as trained, and as our engine serves it."""
import torch
from torch import nn
from torch.nn import functional as F

D, H, ROT = 32, 4, 4
B, T = 2, 7
HD = D // H


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


class NeoXLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_layernorm = nn.LayerNorm(D)
        self.post_attention_layernorm = nn.LayerNorm(D)
        self.query_key_value = nn.Linear(D, 3 * D)
        self.dense = nn.Linear(D, D)
        self.dense_h_to_4h = nn.Linear(D, 4 * D)
        self.dense_4h_to_h = nn.Linear(4 * D, D)
        for norm in (self.input_layernorm, self.post_attention_layernorm):
            nn.init.normal_(norm.weight, 1.0, 0.1)
            nn.init.normal_(norm.bias, 0.0, 0.1)

    def attention(self, x):
        b, t, _ = x.shape
        qkv = self.query_key_value(x).view(b, t, H, 3 * HD).transpose(1, 2)
        q, k, v = qkv.chunk(3, dim=-1)
        inv_freq = 1.0 / (10000 ** (torch.arange(0, ROT, 2, device=x.device).to(x.dtype) / ROT))
        freqs = torch.outer(torch.arange(t, device=x.device).to(x.dtype), inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        cos, sin = emb.cos(), emb.sin()
        q_rot, q_pass = q[..., :ROT], q[..., ROT:]
        k_rot, k_pass = k[..., :ROT], k[..., ROT:]
        q = torch.cat((q_rot * cos + rotate_half(q_rot) * sin, q_pass), dim=-1)
        k = torch.cat((k_rot * cos + rotate_half(k_rot) * sin, k_pass), dim=-1)
        scores = torch.matmul(q, k.transpose(-1, -2)) / HD**0.5
        causal = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
        scores = scores.masked_fill(~causal, torch.finfo(scores.dtype).min)
        out = torch.softmax(scores, dim=-1) @ v
        return self.dense(out.transpose(1, 2).reshape(b, t, D))

    def forward(self, x):
        attn = self.attention(self.input_layernorm(x))
        mlp = self.dense_4h_to_h(F.gelu(self.dense_h_to_4h(self.post_attention_layernorm(x))))
        return mlp + attn + x


class ServedLayer(nn.Module):
    def __init__(self, hf):
        super().__init__()
        self.ln1, self.ln2 = hf.input_layernorm, hf.post_attention_layernorm
        weight = hf.query_key_value.weight.detach().view(H, 3, HD, D)
        bias = hf.query_key_value.bias.detach().view(H, 3, HD)
        for i, name in enumerate(("q", "k", "v")):
            proj = nn.Linear(D, D)
            proj.weight.data = weight[:, i].reshape(D, D).clone()
            proj.bias.data = bias[:, i].reshape(D).clone()
            setattr(self, name, proj)
        self.o, self.up, self.down = hf.dense, hf.dense_h_to_4h, hf.dense_4h_to_h

    @staticmethod
    def rope(x, cos, sin):
        a, b, rest = x.split([ROT // 2, ROT // 2, HD - ROT], dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], dim=-1)

    def forward(self, x):
        b, t, _ = x.shape
        h = self.ln1(x)
        q, k, v = (proj(h).unflatten(-1, (H, HD)) for proj in (self.q, self.k, self.v))
        inv_freq = 1.0 / (10000 ** (torch.arange(0, ROT, 2, device=x.device).to(x.dtype) / ROT))
        angle = torch.arange(t, device=x.device).to(x.dtype)[:, None, None] * inv_freq
        cos, sin = angle.cos(), angle.sin()
        q, k = self.rope(q, cos, sin), self.rope(k, cos, sin)
        out = F.scaled_dot_product_attention(*(z.transpose(1, 2) for z in (q, k, v)), is_causal=True)
        x = x + self.o(out.transpose(1, 2).flatten(2)) + self.down(F.gelu(self.up(self.ln2(x))))
        return x


left = NeoXLayer()
right = ServedLayer(left)


def inputs():
    return (torch.randn(B, T, D),)
