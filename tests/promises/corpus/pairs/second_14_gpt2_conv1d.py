# EQUAL.
"""GPT-2 head: Conv1D mlp, tied lm head; against nn.Linear and a vocabulary padded to 40 rows (logits cut back). EQUAL."""
import torch
from torch import nn
import torch.nn.functional as F
from transformers.pytorch_utils import Conv1D

V, PADDED, C = 37, 40, 10


class Gpt2ish(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, C)
        self.ln = nn.LayerNorm(C)
        self.c_fc = Conv1D(4 * C, C)
        self.c_proj = Conv1D(C, 4 * C)
        self.lm_head = nn.Linear(C, V, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, ids):
        x = self.wte(ids)
        x = x + self.c_proj(F.gelu(self.c_fc(self.ln(x)), approximate="tanh"))
        return self.lm_head(x)


class Padded(nn.Module):
    def __init__(self, o):
        super().__init__()
        table = torch.zeros(PADDED, C)
        table[:V] = o.wte.weight.data
        self.embed = nn.Parameter(table)
        self.norm = nn.LayerNorm(C)
        self.up = nn.Linear(C, 4 * C)
        self.down = nn.Linear(4 * C, C)
        self.up.weight.data = o.c_fc.weight.data.t().contiguous()
        self.up.bias.data = o.c_fc.bias.data.clone()
        self.down.weight.data = o.c_proj.weight.data.t().contiguous()
        self.down.bias.data = o.c_proj.bias.data.clone()

    def forward(self, ids):
        x = F.embedding(ids, self.embed)
        h = self.up(self.norm(x))
        h = 0.5 * h * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (h + 0.044715 * h ** 3)))
        x = x + self.down(h)
        return (x @ self.embed.T)[..., :V]


left = Gpt2ish()
right = Padded(left)
inputs = (torch.randint(V, (2, 6)),)
