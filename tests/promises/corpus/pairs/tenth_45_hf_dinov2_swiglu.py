# EQUAL
# One layer of DINOv2 (giant: SwiGLU) in Transformers, and in the names and layout of the original repository
import torch
from torch import nn
import torch.nn.functional as F
from transformers import Dinov2Config
from transformers.models.dinov2.modeling_dinov2 import Dinov2Layer


def transformers_layer():
    config = Dinov2Config(hidden_size=8, num_attention_heads=2, num_hidden_layers=1, use_swiglu_ffn=True,
                          attn_implementation="sdpa")
    layer = Dinov2Layer(config).eval()
    for p in layer.parameters():
        if p.dim() == 1:
            nn.init.normal_(p, std=0.7)
    return layer


class SwiGLUFFNFused(nn.Module):
    def __init__(self, mlp):
        super().__init__()
        self.w12 = nn.Linear(mlp.gate_proj.in_features, 2 * mlp.gate_proj.out_features)
        self.w3 = nn.Linear(mlp.down_proj.in_features, mlp.down_proj.out_features)
        self.w12.weight.data = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight]).detach()
        self.w12.bias.data = torch.cat([mlp.gate_proj.bias, mlp.up_proj.bias]).detach()
        self.w3.load_state_dict(mlp.down_proj.state_dict())

    def forward(self, x):
        x1, x2 = self.w12(x).chunk(2, dim=-1)
        return self.w3(F.silu(x1) * x2)


class MemEffAttention(nn.Module):
    def __init__(self, attention, num_heads):
        super().__init__()
        self.num_heads = num_heads
        a = attention
        dim = a.o_proj.out_features
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.qkv.weight.data = torch.cat([a.q_proj.weight, a.k_proj.weight, a.v_proj.weight]).detach()
        self.qkv.bias.data = torch.cat([a.q_proj.bias, a.k_proj.bias, a.v_proj.bias]).detach()
        self.proj.load_state_dict(a.o_proj.state_dict())
        self.scale = (dim // num_heads) ** -0.5

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0] * self.scale, qkv[1], qkv[2]
        attn = (q @ k.transpose(-2, -1)).softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


class OriginalBlock(nn.Module):
    def __init__(self):
        super().__init__()
        src = transformers_layer()
        self.norm1, self.norm2 = src.norm1, src.norm2
        self.attn = MemEffAttention(src.attention, 2)
        self.mlp = SwiGLUFFNFused(src.mlp)
        self.gamma1, self.gamma2 = src.layer_scale1.lambda1, src.layer_scale2.lambda1

    def forward(self, x):
        x = x + self.gamma1 * self.attn(self.norm1(x))
        return x + self.gamma2 * self.mlp(self.norm2(x))


left = transformers_layer
right = OriginalBlock


def inputs():
    return (torch.randn(2, 5, 8),)
