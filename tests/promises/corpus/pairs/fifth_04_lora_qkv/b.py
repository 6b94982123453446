import torch
from torch import nn
from torch.nn import functional as F

from a import program as original


class Attention(nn.Module):
    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(b, t, c))


@torch.no_grad()
def merge(lora):
    plain = Attention(heads=lora.heads)
    dim = lora.proj.in_features
    weight = lora.qkv.weight.clone()
    weight[:dim] += lora.scaling * lora.lora_q_b.weight @ lora.lora_q_a.weight
    weight[2 * dim :] += lora.scaling * lora.lora_v_b.weight @ lora.lora_v_a.weight
    plain.load_state_dict(
        {
            "qkv.weight": weight,
            "qkv.bias": lora.qkv.bias,
            "proj.weight": lora.proj.weight,
            "proj.bias": lora.proj.bias,
        }
    )
    return plain


program = merge(original).eval()
