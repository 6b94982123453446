import math

import torch
from torch import nn

torch.manual_seed(110)


class Stored(nn.Module):
    def __init__(self, vocab=11, d=8, max_len=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe = torch.zeros(max_len, d)
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe, persistent=False)
        self.d = d

    def forward(self, tokens):
        x = self.emb(tokens) * math.sqrt(self.d)
        return x + self.pe[: tokens.shape[1]]


class Computed(nn.Module):
    def __init__(self, vocab=11, d=8):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.d = d

    def forward(self, tokens):
        x = self.emb(tokens)
        t = torch.arange(tokens.shape[1], dtype=x.dtype)
        inv_freq = 1.0 / (10000 ** (torch.arange(0, self.d, 2, dtype=x.dtype) / self.d))
        angles = torch.outer(t, inv_freq)
        pe = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
        return x * self.d ** 0.5 + pe


left = Stored()
right = Computed()
right.load_state_dict(left.state_dict())
inputs = (torch.randint(0, 11, (2, 6)),)
