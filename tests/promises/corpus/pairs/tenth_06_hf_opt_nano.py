# EQUAL
# OPT from Transformers against a nanoGPT-style file that reads its weights
import math
import torch
from torch import nn
import torch.nn.functional as F
from transformers import OPTConfig, OPTForCausalLM

CONFIG = dict(vocab_size=31, hidden_size=16, num_hidden_layers=2, ffn_dim=24, num_attention_heads=2,
              max_position_embeddings=20, word_embed_proj_dim=16, dropout=0.0, pad_token_id=1)


def hugging_face():
    model = OPTForCausalLM(OPTConfig(**CONFIG, attn_implementation="sdpa")).eval()
    for name, p in model.named_parameters():
        if p.dim() == 1:
            nn.init.normal_(p, std=0.5)
    return model


class HF(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = hugging_face()

    def forward(self, input_ids):
        return self.model(input_ids=input_ids, use_cache=False).logits


class Block(nn.Module):
    def __init__(self, n_embd, n_head, n_ff):
        super().__init__()
        self.n_head = n_head
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.c_attn, self.c_proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)
        self.c_fc, self.c_out = nn.Linear(n_embd, n_ff), nn.Linear(n_ff, n_embd)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(self.ln_1(x)).split(C, dim=2)
        q, k, v = (z.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))
        return x + self.c_out(F.relu(self.c_fc(self.ln_2(x))))


class NanoOPT(nn.Module):
    def __init__(self):
        super().__init__()
        sd = hugging_face().state_dict()
        self.wte, self.wpe = nn.Embedding(31, 16), nn.Embedding(20, 16)
        self.h = nn.ModuleList(Block(16, 2, 24) for _ in range(2))
        self.ln_f = nn.LayerNorm(16)
        with torch.no_grad():
            self.wte.weight.copy_(sd["model.decoder.embed_tokens.weight"])
            self.wpe.weight.copy_(sd["model.decoder.embed_positions.weight"][2:])     # OPT's offset of two
            for i, blk in enumerate(self.h):
                pre = f"model.decoder.layers.{i}."
                for kind in ("weight", "bias"):
                    getattr(blk.c_attn, kind).copy_(
                        torch.cat([sd[f"{pre}self_attn.{n}_proj.{kind}"] for n in "qkv"]))
                    getattr(blk.c_proj, kind).copy_(sd[f"{pre}self_attn.out_proj.{kind}"])
                    getattr(blk.ln_1, kind).copy_(sd[f"{pre}self_attn_layer_norm.{kind}"])
                    getattr(blk.ln_2, kind).copy_(sd[f"{pre}final_layer_norm.{kind}"])
                    getattr(blk.c_fc, kind).copy_(sd[f"{pre}fc1.{kind}"])
                    getattr(blk.c_out, kind).copy_(sd[f"{pre}fc2.{kind}"])
            self.ln_f.weight.copy_(sd["model.decoder.final_layer_norm.weight"])
            self.ln_f.bias.copy_(sd["model.decoder.final_layer_norm.bias"])

    def forward(self, input_ids):
        x = self.wte(input_ids) + self.wpe(torch.arange(input_ids.size(1)))
        for block in self.h:
            x = block(x)
        return self.ln_f(x) @ self.wte.weight.t()


left, right = HF, NanoOPT


def inputs():
    return (torch.randint(0, 31, (2, 7)),)
