"""Granite's four multipliers, in the forward pass and folded into the weights."""
import torch
from torch import nn
import torch.nn.functional as F

DIM, HEADS, HIDDEN, VOCAB = 16, 2, 24, 30
EMBEDDING, RESIDUAL, ATTENTION, LOGITS = 12.0, 0.22, 0.015625, 8.0


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_layernorm = nn.RMSNorm(DIM, eps=1e-5)
        self.post_attention_layernorm = nn.RMSNorm(DIM, eps=1e-5)
        self.q_proj = nn.Linear(DIM, DIM, bias=False)
        self.k_proj = nn.Linear(DIM, DIM, bias=False)
        self.v_proj = nn.Linear(DIM, DIM, bias=False)
        self.o_proj = nn.Linear(DIM, DIM, bias=False)
        self.gate_proj = nn.Linear(DIM, HIDDEN, bias=False)
        self.up_proj = nn.Linear(DIM, HIDDEN, bias=False)
        self.down_proj = nn.Linear(HIDDEN, DIM, bias=False)
        nn.init.normal_(self.input_layernorm.weight, 1.0, 0.1)
        nn.init.normal_(self.post_attention_layernorm.weight, 1.0, 0.1)

    def heads(self, x):
        return x.view(*x.shape[:2], HEADS, DIM // HEADS).transpose(1, 2)


class GraniteBlock(Block):
    def forward(self, x):
        y = self.input_layernorm(x)
        q, k, v = self.heads(self.q_proj(y)), self.heads(self.k_proj(y)), self.heads(self.v_proj(y))
        scores = torch.matmul(q, k.transpose(2, 3)) * ATTENTION
        t = x.shape[1]
        mask = torch.full((t, t), float("-inf")).triu(1)
        attn = torch.softmax(scores + mask, dim=-1) @ v
        attn = self.o_proj(attn.transpose(1, 2).flatten(2))
        x = x + attn * RESIDUAL
        y = self.post_attention_layernorm(x)
        y = self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))
        return x + y * RESIDUAL


class LlamaBlock(Block):
    def forward(self, x):
        y = self.input_layernorm(x)
        q, k, v = (self.heads(p(y)) for p in (self.q_proj, self.k_proj, self.v_proj))
        attn = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)
        x = x + self.o_proj(attn.transpose(1, 2).reshape(x.shape))
        y = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Granite(nn.Module):
    def __init__(self, layers=1):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCAB, DIM)
        self.layers = nn.ModuleList([GraniteBlock() for _ in range(layers)])
        self.norm = nn.RMSNorm(DIM, eps=1e-5)
        self.lm_head = nn.Linear(DIM, VOCAB, bias=False)
        nn.init.normal_(self.norm.weight, 1.0, 0.1)

    def forward(self, ids):
        x = self.embed_tokens(ids) * EMBEDDING
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x)) / LOGITS


class Folded(nn.Module):
    def __init__(self, granite):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCAB, DIM)
        self.layers = nn.ModuleList([LlamaBlock() for _ in granite.layers])
        self.norm = nn.RMSNorm(DIM, eps=1e-5)
        self.lm_head = nn.Linear(DIM, VOCAB, bias=False)
        self.load_state_dict(granite.state_dict())
        with torch.no_grad():
            self.embed_tokens.weight.mul_(EMBEDDING)
            self.lm_head.weight.div_(LOGITS)
            for layer in self.layers:
                layer.q_proj.weight.mul_(ATTENTION)
                layer.o_proj.weight.mul_(RESIDUAL)
                layer.down_proj.weight.mul_(RESIDUAL)

    def forward(self, ids):
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


torch.manual_seed(0)
left = Granite()
right = Folded(left)


def inputs():
    return (torch.randint(0, VOCAB, (2, 6)),)
