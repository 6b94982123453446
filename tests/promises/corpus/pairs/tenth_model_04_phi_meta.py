# EQUAL
"""phi-1.5 in the manner of Meta's llama code: complex rotary numbers, so rows of wq and wk are permuted on the way in."""
import torch
import torch.nn.functional as F
from torch import nn
from transformers import PhiConfig, PhiForCausalLM

DIM, HEADS, LAYERS, VOCAB, ROT = 32, 2, 2, 71, 8


def hf():
    torch.manual_seed(7)
    model = PhiForCausalLM(PhiConfig(
        vocab_size=VOCAB, hidden_size=DIM, intermediate_size=64, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        max_position_embeddings=48, attn_implementation="eager", use_cache=False,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
    )).eval()
    return model


def interleave(rows, n_heads, rot):
    """[x0 … x_{r/2-1}, x_{r/2} … x_{r-1}, rest] -> [x0, x_{r/2}, x1, …, rest] within each head."""
    head = rows.shape[0] // n_heads
    order = torch.arange(rot).view(2, rot // 2).T.reshape(-1)
    order = torch.cat([order, torch.arange(rot, head)])
    return rows.view(n_heads, head, *rows.shape[1:])[:, order].reshape(rows.shape)


def precompute_freqs_cis(dim, end, theta=10000.0):
    freqs = 1.0 / theta ** (torch.arange(0, dim, 2)[: dim // 2].float() / dim)
    freqs = torch.outer(torch.arange(end), freqs)
    return torch.polar(torch.ones_like(freqs), freqs)


def apply_rotary_emb(x, freqs_cis, rot):
    turned = torch.view_as_complex(x[..., :rot].float().reshape(*x.shape[:-1], -1, 2))
    turned = torch.view_as_real(turned * freqs_cis[None, :, None, :]).flatten(3)
    return torch.cat([turned.type_as(x), x[..., rot:]], dim=-1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(DIM, DIM) for _ in range(4))

    def forward(self, x, freqs_cis, mask):
        bsz, seqlen, _ = x.shape
        xq, xk, xv = (w(x).view(bsz, seqlen, HEADS, DIM // HEADS) for w in (self.wq, self.wk, self.wv))
        xq, xk = apply_rotary_emb(xq, freqs_cis, ROT), apply_rotary_emb(xk, freqs_cis, ROT)
        xq, xk, xv = (t.transpose(1, 2) for t in (xq, xk, xv))
        scores = torch.matmul(xq, xk.transpose(2, 3)) / (DIM // HEADS) ** 0.5 + mask
        out = torch.matmul(F.softmax(scores.float(), dim=-1).type_as(xq), xv)
        return self.wo(out.transpose(1, 2).contiguous().view(bsz, seqlen, -1))


class TransformerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.w1, self.w2 = nn.Linear(DIM, 64), nn.Linear(64, DIM)
        self.norm = nn.LayerNorm(DIM, eps=1e-5)

    def forward(self, x, freqs_cis, mask):
        h = self.norm(x)
        return x + self.attention(h, freqs_cis, mask) + self.w2(F.gelu(self.w1(h), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCAB, DIM)
        self.layers = nn.ModuleList(TransformerBlock() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(DIM, eps=1e-5)
        self.output = nn.Linear(DIM, VOCAB)
        self.freqs_cis = precompute_freqs_cis(ROT, 48)

    def forward(self, tokens):
        seqlen = tokens.shape[1]
        h = self.tok_embeddings(tokens)
        mask = torch.full((seqlen, seqlen), float("-inf")).triu(1)
        for layer in self.layers:
            h = layer(h, self.freqs_cis[:seqlen], mask)
        return self.output(self.norm(h))


def converted(model):
    ours, sd = Transformer(), model.state_dict()
    new = {
        "tok_embeddings.weight": sd["model.embed_tokens.weight"],
        "norm.weight": sd["model.final_layernorm.weight"], "norm.bias": sd["model.final_layernorm.bias"],
        "output.weight": sd["lm_head.weight"], "output.bias": sd["lm_head.bias"],
    }
    for i in range(LAYERS):
        for kind in ("weight", "bias"):
            src = f"model.layers.{i}."
            dst = f"layers.{i}."
            new[dst + f"attention.wq.{kind}"] = interleave(sd[src + f"self_attn.q_proj.{kind}"], HEADS, ROT)
            new[dst + f"attention.wk.{kind}"] = interleave(sd[src + f"self_attn.k_proj.{kind}"], HEADS, ROT)
            new[dst + f"attention.wv.{kind}"] = sd[src + f"self_attn.v_proj.{kind}"]
            new[dst + f"attention.wo.{kind}"] = sd[src + f"self_attn.dense.{kind}"]
            new[dst + f"w1.{kind}"] = sd[src + f"mlp.fc1.{kind}"]
            new[dst + f"w2.{kind}"] = sd[src + f"mlp.fc2.{kind}"]
            new[dst + f"norm.{kind}"] = sd[src + f"input_layernorm.{kind}"]
    ours.load_state_dict(new)
    return ours


class Left(nn.Module):
    def __init__(self):
        super().__init__()
        self.hf = hf()

    def forward(self, tokens):
        return self.hf(input_ids=tokens).logits


left = Left().eval()
right = converted(left.hf).eval()


def inputs():
    return {"tokens": torch.randint(VOCAB, (2, 8))}
