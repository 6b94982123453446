import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(123)
D, HEADS, VOCAB, LONGEST = 8, 2, 9, 16


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, D), nn.Embedding(LONGEST, D)
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.up, self.down = nn.Linear(D, 2 * D), nn.Linear(2 * D, D)
        for ln in (self.ln1, self.ln2):
            nn.init.normal_(ln.weight, 1.0, 0.3)
            nn.init.normal_(ln.bias)

    def heads(self, x):
        b, t, _ = x.shape
        return [p.view(b, t, HEADS, D // HEADS).transpose(1, 2) for p in self.qkv(self.ln1(x)).chunk(3, dim=-1)]

    def finish(self, x, y):
        x = x + self.proj(y.transpose(1, 2).flatten(2))
        x = x + self.down(F.silu(self.up(self.ln2(x))))
        return F.linear(x, self.tok.weight)


class Whole(Decoder):
    def forward(self, tokens):
        t = tokens.shape[1]
        x = self.tok(tokens) + self.pos(torch.arange(t))
        q, k, v = self.heads(x)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.finish(x, y)[:, -2:]


class Stepwise(Decoder):
    def forward(self, tokens):
        t = tokens.shape[1]
        prompt = self.tok(tokens[:, :-2]) + self.pos.weight[: t - 2]
        _, keys, values = self.heads(prompt)              # one layer: the prompt's own output is not needed
        logits = []
        for at in (t - 2, t - 1):
            x = self.tok(tokens[:, at:at + 1]) + self.pos.weight[at]
            q, k, v = self.heads(x)
            keys = torch.cat([keys, k], dim=2)
            values = torch.cat([values, v], dim=2)
            weights = torch.softmax(q @ keys.mT / math.sqrt(D // HEADS), dim=-1)
            logits.append(self.finish(x, weights @ values))
        return torch.cat(logits, dim=1)


left = Whole()
right = Stepwise()
right.load_state_dict(left.state_dict())
inputs = (torch.randint(0, VOCAB, (2, 6)),)
