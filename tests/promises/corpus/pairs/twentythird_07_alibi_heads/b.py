"""Port of BLOOM's attention: separate projections and torch's attention; slopes by the formula of the paper."""
import torch
from a import DIM, HEADS, BloomAttention
from torch import nn
from torch.nn import functional as F


class PortedAttention(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = BloomAttention()
        size = DIM // HEADS
        weight = theirs.query_key_value.weight.detach().view(HEADS, 3, size, DIM)
        bias = theirs.query_key_value.bias.detach().view(HEADS, 3, size)
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(DIM, DIM) for _ in range(3))
        for i, linear in enumerate((self.q_proj, self.k_proj, self.v_proj)):
            linear.weight.data = weight[:, i].reshape(DIM, DIM).clone()
            linear.bias.data = bias[:, i].reshape(DIM).clone()
        self.o_proj = theirs.dense

    def bias(self, time):
        head = torch.arange(1, HEADS + 1)
        slopes = 2.0 ** (-8.0 * head / HEADS)
        position = torch.arange(time)
        distance = position[None, :] - position[:, None]
        bias = slopes[:, None, None] * distance
        return torch.where(distance > 0, float("-inf"), bias)

    def forward(self, x):
        q, k, v = (
            linear(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for linear in (self.q_proj, self.k_proj, self.v_proj)
        )
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias(x.shape[1]))
        return self.o_proj(out.transpose(1, 2).flatten(2))
