import torch
from torch import nn
from torch.nn import functional as F


class LoRAAttention(nn.Module):
    """Causal attention whose q and v (not k) have a low-rank update beside the frozen matrix."""

    def __init__(self, dim=16, heads=4, rank=3, alpha=6.0):
        super().__init__()
        self.heads, self.scaling = heads, alpha / rank
        self.qkv = nn.Linear(dim, 3 * dim)
        self.lora_q_a = nn.Linear(dim, rank, bias=False)
        self.lora_q_b = nn.Linear(rank, dim, bias=False)
        self.lora_v_a = nn.Linear(dim, rank, bias=False)
        self.lora_v_b = nn.Linear(rank, dim, bias=False)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).split(c, dim=-1)
        q = q + self.scaling * self.lora_q_b(self.lora_q_a(x))
        v = v + self.scaling * self.lora_v_b(self.lora_v_a(x))
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(b, t, c))


torch.manual_seed(0)
program = LoRAAttention().eval()
