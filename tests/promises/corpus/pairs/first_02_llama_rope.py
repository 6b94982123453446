# EQUAL. Meta's complex rotary vs HF's rotate_half with q/k weights permuted as convert_llama_weights_to_hf.py does
import torch, math
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
DIM, HEADS, T = 32, 4, 7
HD = DIM // HEADS


def precompute_freqs_cis(dim, end, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    t = torch.arange(end)
    freqs = torch.outer(t, freqs).float()
    return torch.polar(torch.ones_like(freqs), freqs)


def apply_rotary_emb(xq, xk, freqs_cis):
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    fc = freqs_cis.view(1, xq_.shape[1], 1, xq_.shape[-1])
    xq_out = torch.view_as_real(xq_ * fc).flatten(3)
    xk_out = torch.view_as_real(xk_ * fc).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


class MetaAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(DIM, DIM, bias=False)
        self.wk = nn.Linear(DIM, DIM, bias=False)
        self.wv = nn.Linear(DIM, DIM, bias=False)
        self.wo = nn.Linear(DIM, DIM, bias=False)
        self.freqs_cis = precompute_freqs_cis(HD, 32)

    def forward(self, x):
        bsz, seqlen, _ = x.shape
        xq, xk, xv = self.wq(x), self.wk(x), self.wv(x)
        xq = xq.view(bsz, seqlen, HEADS, HD)
        xk = xk.view(bsz, seqlen, HEADS, HD)
        xv = xv.view(bsz, seqlen, HEADS, HD)
        xq, xk = apply_rotary_emb(xq, xk, self.freqs_cis[:seqlen])
        xq, xk, xv = xq.transpose(1, 2), xk.transpose(1, 2), xv.transpose(1, 2)
        mask = torch.full((seqlen, seqlen), float("-inf"))
        mask = torch.triu(mask, diagonal=1)
        scores = torch.matmul(xq, xk.transpose(2, 3)) / math.sqrt(HD)
        scores = F.softmax((scores + mask).float(), dim=-1).type_as(xq)
        out = torch.matmul(scores, xv).transpose(1, 2).contiguous().view(bsz, seqlen, -1)
        return self.wo(out)


def permute(w, n_heads=HEADS):
    return w.view(n_heads, HD // 2, 2, DIM).transpose(1, 2).reshape(DIM, DIM)


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2:]
    return torch.cat((-x2, x1), dim=-1)


class HFAttention(nn.Module):
    def __init__(self, sd):
        super().__init__()
        for n in "qkvo":
            setattr(self, n + "_proj", nn.Linear(DIM, DIM, bias=False))
        with torch.no_grad():
            self.q_proj.weight.copy_(permute(sd["wq.weight"]))
            self.k_proj.weight.copy_(permute(sd["wk.weight"]))
            self.v_proj.weight.copy_(sd["wv.weight"])
            self.o_proj.weight.copy_(sd["wo.weight"])
        inv = 1.0 / (10000.0 ** (torch.arange(0, HD, 2, dtype=torch.int64).float() / HD))
        self.register_buffer("inv_freq", inv, persistent=False)

    def forward(self, x):
        B, L, _ = x.shape
        q = self.q_proj(x).view(B, L, -1, HD).transpose(1, 2)
        k = self.k_proj(x).view(B, L, -1, HD).transpose(1, 2)
        v = self.v_proj(x).view(B, L, -1, HD).transpose(1, 2)
        pos = torch.arange(L)[None]
        freqs = (self.inv_freq[None, :, None] @ pos[:, None, :].float()).transpose(1, 2)
        emb = torch.cat((freqs, freqs), dim=-1)
        cos, sin = emb.cos()[:, None], emb.sin()[:, None]
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(o.transpose(1, 2).reshape(B, L, -1))


left = MetaAttention()
right = HFAttention(left.state_dict())
inputs = (torch.randn(2, T, DIM),)
