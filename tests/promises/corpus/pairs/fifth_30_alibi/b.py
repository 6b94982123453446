import torch
from torch import nn
from torch.nn import functional as F

from a import program as original


class BloomAttention(nn.Module):
    """As in BLOOM: the bias is slope · position of the key alone; q, k and v lie together, head by head."""

    def __init__(self, alibi):
        super().__init__()
        self.heads = alibi.heads
        parts = [alibi.q_proj, alibi.k_proj, alibi.v_proj]
        dim = alibi.o_proj.in_features
        self.query_key_value = nn.Linear(dim, 3 * dim)
        self.dense = nn.Linear(dim, dim)
        with torch.no_grad():
            weight = torch.stack([p.weight.view(self.heads, -1, dim) for p in parts], dim=1)
            bias = torch.stack([p.bias.view(self.heads, -1) for p in parts], dim=1)
            self.query_key_value.weight.copy_(weight.reshape(3 * dim, dim))
            self.query_key_value.bias.copy_(bias.reshape(-1))
        self.dense.load_state_dict(alibi.o_proj.state_dict())
        powers = torch.arange(1, self.heads + 1)
        self.register_buffer("slopes", torch.pow(2.0, -8.0 / self.heads * powers), persistent=False)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.query_key_value(x).view(b, t, self.heads, 3, d // self.heads).permute(3, 0, 2, 1, 4)
        alibi = self.slopes.to(x.dtype)[:, None, None] * torch.arange(t, dtype=x.dtype)
        future = torch.full((t, t), float("-inf"), dtype=x.dtype).triu(1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=alibi + future)
        return self.dense(y.transpose(1, 2).flatten(2))


program = BloomAttention(original).eval()
