import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(5)
N, K, DIM, H = 10, 4, 12, 3


class Linformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(DIM, DIM, bias=False)
        self.to_k = nn.Linear(DIM, DIM, bias=False)
        self.to_v = nn.Linear(DIM, DIM, bias=False)
        self.proj_k = nn.Parameter(torch.randn(N, K) * N ** -0.5)
        self.proj_v = nn.Parameter(torch.randn(N, K) * N ** -0.5)
        self.to_out = nn.Linear(DIM, DIM)

    def forward(self, x):
        b, n, d = x.shape
        queries = self.to_q(x)
        keys = torch.einsum("bnd,nk->bkd", self.to_k(x), self.proj_k)
        values = torch.einsum("bnd,nk->bkd", self.to_v(x), self.proj_v)
        queries = queries.reshape(b, n, H, -1).transpose(1, 2)
        keys = keys.reshape(b, K, H, -1).transpose(1, 2)
        values = values.reshape(b, K, H, -1).transpose(1, 2)
        dots = torch.einsum("bhnd,bhkd->bhnk", queries, keys) * (DIM // H) ** -0.5
        out = torch.einsum("bhnk,bhkd->bhnd", dots.softmax(dim=-1), values)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))


class LinformerSDPA(nn.Module):
    """Shrinks x first (the projections commute), and uses torch's attention."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(DIM, DIM, bias=False) for _ in "qkv")
        self.e, self.f = nn.Linear(N, K, bias=False), nn.Linear(N, K, bias=False)
        self.o = nn.Linear(DIM, DIM)

    def load(self, old):
        names = {"to_q.weight": "q.weight", "to_k.weight": "k.weight", "to_v.weight": "v.weight",
                 "to_out.weight": "o.weight", "to_out.bias": "o.bias"}
        sd = {names[k]: v for k, v in old.items() if k in names}
        sd["e.weight"], sd["f.weight"] = old["proj_k"].T, old["proj_v"].T
        self.load_state_dict(sd)
        return self

    def forward(self, x):
        k = self.k(self.e(x.transpose(1, 2)).transpose(1, 2))
        v = self.v(self.f(x.transpose(1, 2)).transpose(1, 2))
        q, k, v = (t.unflatten(-1, (H, -1)).transpose(1, 2) for t in (self.q(x), k, v))
        return self.o(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


left = Linformer()
right = LinformerSDPA().load(left.state_dict())
inputs = (torch.randn(2, N, DIM),)
