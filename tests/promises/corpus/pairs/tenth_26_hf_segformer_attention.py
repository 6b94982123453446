# EQUAL
# Efficient self-attention of SegFormer as it stands in Transformers, and a port on feature maps [B, C, H, W]
import torch
from torch import nn
import torch.nn.functional as F
from transformers import SegformerConfig
from transformers.models.segformer.modeling_segformer import SegformerAttention

DIM, HEADS, SR = 8, 2, 2


def original():
    config = SegformerConfig(attn_implementation="sdpa", attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0)
    attention = SegformerAttention(config, hidden_size=DIM, num_attention_heads=HEADS,
                                   sequence_reduction_ratio=SR).eval()
    for p in attention.parameters():
        if p.dim() == 1:
            nn.init.normal_(p)
    return attention


class HF(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = original()

    def forward(self, feature_map):
        b, c, h, w = feature_map.shape
        tokens = feature_map.flatten(2).transpose(1, 2)
        out = self.attention(tokens, h, w)[0]
        return out.transpose(1, 2).reshape(b, c, h, w)


class SpatialReductionAttention(nn.Module):
    def __init__(self):
        super().__init__()
        src = original()
        self.q = src.q_proj
        self.sr, self.norm = src.sequence_reduction.sequence_reduction, src.sequence_reduction.layer_norm
        self.kv = nn.Linear(DIM, 2 * DIM)
        self.proj = nn.Conv2d(DIM, DIM, 1)
        with torch.no_grad():
            self.kv.weight.copy_(torch.cat([src.k_proj.weight, src.v_proj.weight]))
            self.kv.bias.copy_(torch.cat([src.k_proj.bias, src.v_proj.bias]))
            self.proj.weight.copy_(src.o_proj.weight[:, :, None, None])
            self.proj.bias.copy_(src.o_proj.bias)

    def forward(self, x):
        B, C, H, W = x.shape
        q = self.q(x.permute(0, 2, 3, 1)).reshape(B, H * W, HEADS, C // HEADS).transpose(1, 2)
        reduced = self.norm(self.sr(x).permute(0, 2, 3, 1).flatten(1, 2))
        k, v = self.kv(reduced).reshape(B, -1, 2, HEADS, C // HEADS).permute(2, 0, 3, 1, 4)
        out = F.scaled_dot_product_attention(q, k, v)
        return self.proj(out.transpose(2, 3).reshape(B, C, H, W))


left, right = HF, SpatialReductionAttention


def inputs():
    return (torch.randn(2, DIM, 4, 6),)
