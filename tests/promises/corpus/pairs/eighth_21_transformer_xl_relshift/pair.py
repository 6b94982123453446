import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(31)
D, H, DH = 12, 3, 4
Q, M = 4, 3


class PositionalEmbedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("inv_freq", 1 / (10000 ** (torch.arange(0.0, D, 2.0) / D)))

    def forward(self, pos_seq):
        sinusoid = torch.outer(pos_seq, self.inv_freq)
        return torch.cat([sinusoid.sin(), sinusoid.cos()], dim=-1)[:, None, :]


class RelAttn(nn.Module):
    """Layout [len, batch, dim], as in the reference code."""

    def __init__(self):
        super().__init__()
        self.pos_emb = PositionalEmbedding()
        self.qkv_net = nn.Linear(D, 3 * H * DH, bias=False)
        self.r_net = nn.Linear(D, H * DH, bias=False)
        self.o_net = nn.Linear(H * DH, D, bias=False)
        self.layer_norm = nn.LayerNorm(D)
        self.r_w_bias = nn.Parameter(torch.randn(H, DH))
        self.r_r_bias = nn.Parameter(torch.randn(H, DH))

    def _rel_shift(self, x):
        zero_pad = torch.zeros((x.size(0), 1) + tuple(x.size()[2:]), dtype=x.dtype)
        x_padded = torch.cat([zero_pad, x], dim=1)
        x_padded = x_padded.view(x.size(1) + 1, x.size(0), *x.size()[2:])
        return x_padded[1:].view_as(x)

    def forward(self, w, mems):
        qlen, bsz = w.size(0), w.size(1)
        cat = torch.cat([mems, w], 0)
        klen = cat.size(0)
        r = self.pos_emb(torch.arange(klen - 1, -1, -1.0, dtype=w.dtype))
        w_heads = self.qkv_net(cat)
        r_head_k = self.r_net(r).view(klen, H, DH)
        q, k, v = torch.chunk(w_heads, 3, dim=-1)
        q = q[-qlen:].view(qlen, bsz, H, DH)
        k = k.view(klen, bsz, H, DH)
        v = v.view(klen, bsz, H, DH)
        AC = torch.einsum("ibnd,jbnd->ijbn", q + self.r_w_bias, k)
        BD = self._rel_shift(torch.einsum("ibnd,jnd->ijbn", q + self.r_r_bias, r_head_k))
        score = (AC + BD).mul_(1 / DH ** 0.5)
        mask = torch.triu(torch.ones(qlen, klen), diagonal=1 + klen - qlen).bool()[:, :, None, None]
        prob = F.softmax(score.masked_fill(mask, -float("inf")), dim=1)
        vec = torch.einsum("ijbn,jbnd->ibnd", prob, v).contiguous().view(qlen, bsz, H * DH)
        return self.layer_norm(w + self.o_net(vec))


class RelAttnGather(nn.Module):
    def __init__(self, sd):
        super().__init__()
        for n, block in zip("qkv", sd["qkv_net.weight"].chunk(3)):
            setattr(self, n, nn.Parameter(block.clone()))
        self.r = nn.Parameter(sd["r_net.weight"].clone())
        self.o = nn.Parameter(sd["o_net.weight"].clone())
        self.u = nn.Parameter(sd["r_w_bias"].clone())
        self.w = nn.Parameter(sd["r_r_bias"].clone())
        self.layer_norm = nn.LayerNorm(D)
        self.layer_norm.load_state_dict({"weight": sd["layer_norm.weight"], "bias": sd["layer_norm.bias"]})

    def forward(self, w, mems):
        x, past = w.transpose(0, 1), mems.transpose(0, 1)
        ctx = torch.cat([past, x], dim=1)
        tq, tk = x.shape[1], ctx.shape[1]
        q = (x @ self.q.T).unflatten(-1, (H, DH)).transpose(1, 2)
        k = (ctx @ self.k.T).unflatten(-1, (H, DH)).transpose(1, 2)
        v = (ctx @ self.v.T).unflatten(-1, (H, DH)).transpose(1, 2)
        freq = 10000 ** (-torch.arange(0.0, D, 2.0) / D)
        ang = torch.arange(tk).to(w.dtype)[:, None] * freq
        table = torch.cat([ang.sin(), ang.cos()], -1) @ self.r.T          # row = distance
        table = table.view(tk, H, DH)
        dist = torch.arange(tk - tq, tk)[:, None] - torch.arange(tk)[None, :]
        rel = table[dist.clamp(min=0)]                                    # [tq, tk, H, DH]
        s = (q + self.u[:, None]) @ k.mT + torch.einsum("bhid,ijhd->bhij", q + self.w[:, None], rel)
        s = torch.where(dist < 0, float("-inf"), s / DH ** 0.5)
        y = (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ self.o.T
        return self.layer_norm(x + y).transpose(0, 1).contiguous()


left = RelAttn()
right = RelAttnGather(left.state_dict())
inputs = (torch.randn(Q, 2, D), torch.randn(M, 2, D))
