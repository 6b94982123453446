import torch
import torch.nn.functional as F
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(19)
cfg = GPT2Config(vocab_size=40, n_positions=24, n_embd=24, n_layer=2, n_head=3, attn_implementation="eager")
hf = GPT2LMHeadModel(cfg).eval()


class Reference(nn.Module):
    def __init__(self, lm):
        super().__init__()
        self.lm = lm

    def forward(self, idx):
        return self.lm(input_ids=idx, use_cache=False).logits


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n), nn.LayerNorm(n)
        self.attn = nn.ModuleDict({"c_attn": nn.Linear(n, 3 * n), "c_proj": nn.Linear(n, n)})
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(n, 4 * n), "c_proj": nn.Linear(4 * n, n)})

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.attn["c_attn"](self.ln_1(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, 3, C // 3).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn["c_proj"](y.transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x))))


class NanoGPT(nn.Module):
    def __init__(self, lm):
        super().__init__()
        c = lm.config
        self.wte, self.wpe = nn.Embedding(c.vocab_size, c.n_embd), nn.Embedding(c.n_positions, c.n_embd)
        self.h = nn.ModuleList([Block(c.n_embd) for _ in range(c.n_layer)])
        self.ln_f = nn.LayerNorm(c.n_embd)
        theirs = lm.transformer.state_dict()
        mine = self.state_dict()
        for name, t in mine.items():
            source = theirs[name]
            if any(name.endswith(w) for w in ("c_attn.weight", "c_proj.weight", "c_fc.weight")):
                source = source.t()
            t.copy_(source)

    def forward(self, idx):
        pos = torch.arange(idx.shape[1])
        x = self.wte(idx) + self.wpe(pos)
        for block in self.h:
            x = block(x)
        return F.linear(self.ln_f(x), self.wte.weight)


left = Reference(hf)
right = NanoGPT(hf).eval()
inputs = (torch.randint(0, 40, (2, 7)),)
