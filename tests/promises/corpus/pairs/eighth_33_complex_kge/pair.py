# ComplEx knowledge-graph embeddings (Trouillon et al.): score of a triple, and of all tails, with the logistic loss.
import torch
import torch.nn.functional as F
from torch import nn


class ComplEx(nn.Module):
    def __init__(self, n_ent=11, n_rel=4, dim=6):
        super().__init__()
        self.ent = nn.Embedding(n_ent, 2 * dim)
        self.rel = nn.Embedding(n_rel, 2 * dim)

    def forward(self, h, r, t, y):
        h_re, h_im = self.ent(h).chunk(2, -1)
        r_re, r_im = self.rel(r).chunk(2, -1)
        t_re, t_im = self.ent(t).chunk(2, -1)
        score = (h_re * r_re * t_re + h_im * r_re * t_im + h_re * r_im * t_im - h_im * r_im * t_re).sum(-1)
        loss = F.softplus(-y * score).mean()
        all_re, all_im = self.ent.weight.chunk(2, -1)
        every = (h_re * r_re - h_im * r_im) @ all_re.t() + (h_re * r_im + h_im * r_re) @ all_im.t()
        return loss, every


class ComplExC(nn.Module):
    def __init__(self, other):
        super().__init__()
        d = other.ent.embedding_dim // 2
        w, v = other.ent.weight.detach(), other.rel.weight.detach()
        self.e_re, self.e_im = nn.Parameter(w[:, :d].clone()), nn.Parameter(w[:, d:].clone())
        self.r_re, self.r_im = nn.Parameter(v[:, :d].clone()), nn.Parameter(v[:, d:].clone())

    def forward(self, h, r, t, y):
        E = torch.complex(self.e_re, self.e_im)
        R = torch.complex(self.r_re, self.r_im)
        hr = E[h] * R[r]
        score = (hr * E[t].conj()).sum(-1).real
        loss = -F.logsigmoid(y * score).sum() / y.numel()
        every = torch.einsum("bd,nd->bn", hr, E.conj()).real
        return loss, every.contiguous()


left = ComplEx()
right = ComplExC(left)
inputs = (torch.randint(0, 11, (5,)), torch.randint(0, 4, (5,)), torch.randint(0, 11, (5,)), torch.randn(5).sign())
