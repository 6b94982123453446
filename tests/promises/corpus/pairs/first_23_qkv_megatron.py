# EQUAL. separate q, k, v (HF) vs Megatron's fused query_key_value, rows [head, 3, dim]
import torch
from torch import nn
import torch.nn.functional as F

NH, HD = 3, 4
D = NH * HD
torch.manual_seed(0)


class Split(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.dense = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x):
        B, T, _ = x.shape
        shp = lambda t: t.view(B, T, NH, HD).transpose(1, 2)
        o = F.scaled_dot_product_attention(shp(self.q_proj(x)), shp(self.k_proj(x)), shp(self.v_proj(x)))
        return self.dense(o.transpose(1, 2).reshape(B, T, D))


class NeoX(nn.Module):
    def __init__(self, sd):
        super().__init__()
        self.query_key_value = nn.Linear(D, 3 * D)
        self.dense = nn.Linear(D, D)
        w = [sd[f"{n}_proj.weight"].view(NH, HD, D) for n in "qkv"]
        b = [sd[f"{n}_proj.bias"].view(NH, HD) for n in "qkv"]
        new = {"query_key_value.weight": torch.stack(w, 1).reshape(3 * D, D),
               "query_key_value.bias": torch.stack(b, 1).reshape(-1),
               "dense.weight": sd["dense.weight"], "dense.bias": sd["dense.bias"]}
        self.load_state_dict(new)

    def forward(self, hidden_states):
        mixed = self.query_key_value(hidden_states)
        mixed = mixed.view(*mixed.shape[:-1], NH, 3 * HD).permute(0, 2, 1, 3)
        q, k, v = mixed.chunk(3, dim=-1)
        p = torch.baddbmm(torch.zeros(()), q.flatten(0, 1), k.flatten(0, 1).mT, beta=0.0, alpha=HD ** -0.5)
        p = torch.softmax(p, dim=-1)
        o = torch.bmm(p, v.flatten(0, 1)).view(q.shape)
        return self.dense(o.permute(0, 2, 1, 3).contiguous().flatten(2))


left = Split()
right = NeoX(left.state_dict())
inputs = (torch.randn(2, 5, D),)
