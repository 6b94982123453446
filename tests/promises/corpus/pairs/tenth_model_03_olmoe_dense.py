# EQUAL
"""OLMoE with dense dispatch: every expert sees every token, a [tokens, experts] matrix of gates does the rest.
Slow, but it compiles to three einsums on TPU."""
import torch
from torch import nn
from transformers import OlmoeConfig, OlmoeForCausalLM

config = OlmoeConfig(
    vocab_size=53, hidden_size=32, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=4, max_position_embeddings=64, num_experts=4, num_experts_per_tok=2,
    norm_topk_prob=False, use_cache=False, pad_token_id=1, eos_token_id=2,
)


class Theirs(nn.Module):
    def __init__(self):
        super().__init__()
        self.lm = OlmoeForCausalLM(config)
        for layer in self.lm.model.layers:
            nn.init.normal_(layer.mlp.gate.weight, std=0.5)

    def forward(self, tokens):
        return self.lm(tokens).logits


def rms(x, scale, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * scale


def rope_tables(t, dim, base=10000.0):
    inv = base ** (-torch.arange(0, dim, 2) / dim)
    angle = torch.arange(t)[:, None] * inv[None, :]
    return angle.sin(), angle.cos()


def apply_rope(x, sin, cos):            # x: [b, t, h, d]
    lo, hi = x.split(x.shape[-1] // 2, dim=-1)
    sin, cos = sin[None, :, None], cos[None, :, None]
    return torch.cat([lo * cos - hi * sin, hi * cos + lo * sin], -1)


class Layer(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        a, m = theirs.self_attn, theirs.mlp
        C, H, E = config.hidden_size, config.num_attention_heads, config.num_experts
        cut = lambda w: nn.Parameter(w.weight.detach().view(H, C // H, C).permute(2, 0, 1).contiguous())  # noqa: E731
        self.wq, self.wk, self.wv = cut(a.q_proj), cut(a.k_proj), cut(a.v_proj)
        self.wo = nn.Parameter(a.o_proj.weight.detach().T.reshape(H, C // H, C).clone())
        self.q_scale = nn.Parameter(a.q_norm.weight.detach().clone())
        self.k_scale = nn.Parameter(a.k_norm.weight.detach().clone())
        self.pre_attn = nn.Parameter(theirs.input_layernorm.weight.detach().clone())
        self.pre_moe = nn.Parameter(theirs.post_attention_layernorm.weight.detach().clone())
        self.router = nn.Parameter(m.gate.weight.detach().T.contiguous())
        gate_up = m.experts.gate_up_proj.detach()
        F = gate_up.shape[1] // 2
        self.w_gate = nn.Parameter(gate_up[:, :F].transpose(1, 2).contiguous())
        self.w_up = nn.Parameter(gate_up[:, F:].transpose(1, 2).contiguous())
        self.w_down = nn.Parameter(m.experts.down_proj.detach().transpose(1, 2).contiguous())
        self.H, self.E, self.k = H, E, config.num_experts_per_tok

    def attention(self, x, sin, cos):
        b, t, c = x.shape
        q = torch.einsum("btc,chd->bthd", x, self.wq)
        k = torch.einsum("btc,chd->bthd", x, self.wk)
        v = torch.einsum("btc,chd->bthd", x, self.wv)
        # OLMoE normalises over all heads together
        q = rms(q.flatten(2), self.q_scale).view_as(q)
        k = rms(k.flatten(2), self.k_scale).view_as(k)
        q, k = apply_rope(q, sin, cos), apply_rope(k, sin, cos)
        logits = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        future = torch.ones(t, t, dtype=torch.bool).triu(1)
        probs = logits.masked_fill(future, float("-inf")).softmax(-1)
        return torch.einsum("bhqk,bkhd,hdc->bqc", probs, v, self.wo)

    def moe(self, x):
        probs = torch.einsum("btc,ce->bte", x, self.router).softmax(-1)
        top, where = probs.topk(self.k, dim=-1)
        gates = torch.zeros_like(probs).scatter(-1, where, top)
        hidden = torch.nn.functional.silu(torch.einsum("btc,ecf->btef", x, self.w_gate))
        hidden = hidden * torch.einsum("btc,ecf->btef", x, self.w_up)
        return torch.einsum("bte,btef,efc->btc", gates, hidden, self.w_down)

    def forward(self, x, sin, cos):
        x = x + self.attention(rms(x, self.pre_attn), sin, cos)
        return x + self.moe(rms(x, self.pre_moe))


class Dense(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        self.embed = nn.Parameter(theirs.lm.model.embed_tokens.weight.detach().clone())
        self.layers = nn.ModuleList(Layer(layer) for layer in theirs.lm.model.layers)
        self.final = nn.Parameter(theirs.lm.model.norm.weight.detach().clone())
        self.unembed = nn.Parameter(theirs.lm.lm_head.weight.detach().T.contiguous())

    def forward(self, tokens):
        x = self.embed[tokens]
        sin, cos = rope_tables(tokens.shape[1], config.hidden_size // config.num_attention_heads)
        for layer in self.layers:
            x = layer(x, sin, cos)
        return rms(x, self.final) @ self.unembed


left = Theirs().eval()
right = Dense(left)
inputs = (torch.randint(3, 53, (2, 6)),)
