# EQUAL: Meta Llama attention with complex rotary on neighbours vs HF rotate_half with permuted q and k weights
import torch
from torch import nn
import torch.nn.functional as F

D, H, HD = 16, 2, 8


class Meta(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(D, D, bias=False) for _ in range(4))

    def forward(self, x):
        b, t, _ = x.shape
        freqs = 1.0 / (500000.0 ** (torch.arange(0, HD, 2)[: HD // 2].to(x.dtype) / HD))
        freqs = torch.outer(torch.arange(t).to(x.dtype), freqs)
        cis = torch.polar(torch.ones_like(freqs), freqs).view(1, t, 1, HD // 2)

        def rot(y):
            yc = torch.view_as_complex(y.reshape(b, t, H, HD // 2, 2))
            return torch.view_as_real(yc * cis).flatten(3)

        q = rot(self.wq(x).view(b, t, H, HD)).transpose(1, 2)
        k = rot(self.wk(x).view(b, t, H, HD)).transpose(1, 2)
        v = self.wv(x).view(b, t, H, HD).transpose(1, 2)
        s = q @ k.transpose(2, 3) / HD**0.5
        s = s + torch.full((t, t), float("-inf"), dtype=x.dtype).triu(1)
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, D))


def permute(w):
    return w.view(H, HD // 2, 2, D).transpose(1, 2).reshape(D, D).contiguous()


class HF(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(D, D, bias=False) for _ in range(4))
        with torch.no_grad():
            self.q_proj.weight.copy_(permute(src.wq.weight))
            self.k_proj.weight.copy_(permute(src.wk.weight))
            self.v_proj.weight.copy_(src.wv.weight)
            self.o_proj.weight.copy_(src.wo.weight)
        inv = 1.0 / (500000.0 ** (torch.arange(0, HD, 2, dtype=torch.int64).to(self.q_proj.weight.dtype) / HD))
        self.register_buffer("inv_freq", inv, persistent=False)

    def forward(self, x):
        b, t, _ = x.shape
        emb = torch.arange(t).to(x.dtype)[:, None] * self.inv_freq[None]
        emb = torch.cat((emb, emb), dim=-1)
        cos, sin = emb.cos(), emb.sin()

        def rot(y):
            y1, y2 = y[..., : HD // 2], y[..., HD // 2 :]
            return y * cos + torch.cat((-y2, y1), -1) * sin

        q = rot(self.q_proj(x).view(b, t, H, HD).transpose(1, 2))
        k = rot(self.k_proj(x).view(b, t, H, HD).transpose(1, 2))
        v = self.v_proj(x).view(b, t, H, HD).transpose(1, 2)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(o.transpose(1, 2).contiguous().view(b, t, D))


left = Meta()
right = HF(left)


def inputs():
    return (torch.randn(2, 5, D),)
