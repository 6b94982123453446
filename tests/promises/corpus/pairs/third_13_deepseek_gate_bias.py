# DIFFERENT: DeepSeek-V3 gate: the port takes routing weights from the bias-corrected scores instead of the plain ones
import torch
from torch import nn

D, E, K, G, KG, SCALE = 8, 8, 2, 4, 2, 2.5


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(E, D))
        self.register_buffer("e_score_correction_bias", torch.randn(E) * 0.3)

    def forward(self, x):
        scores = (x @ self.weight.t()).sigmoid()
        choice = scores + self.e_score_correction_bias
        group = choice.view(-1, G, E // G).topk(2, -1)[0].sum(-1)
        gi = group.topk(KG, -1, sorted=False)[1]
        gm = torch.zeros_like(group).scatter_(1, gi, 1)
        mask = gm.unsqueeze(-1).expand(-1, G, E // G).reshape(-1, E)
        choice = choice.masked_fill(~mask.bool(), float("-inf"))
        idx = choice.topk(K, -1)[1]
        w = scores.gather(1, idx)
        w = w / (w.sum(-1, keepdim=True) + 1e-20) * SCALE
        return torch.zeros_like(scores).scatter(1, idx, w)


class Gate(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.weight = nn.Parameter(src.weight.detach().clone())
        self.register_buffer("bias", src.e_score_correction_bias.clone())

    def forward(self, x):
        s = torch.sigmoid(nn.functional.linear(x, self.weight)) + self.bias
        groups = s.unflatten(-1, (G, E // G))
        best = groups.topk(2, dim=-1).values.sum(-1).topk(KG, dim=-1).indices
        drop = torch.ones(x.shape[0], G, dtype=torch.bool).scatter(1, best, False)
        masked = groups.masked_fill(drop.unsqueeze(-1), float("-inf")).flatten(1)
        w, idx = masked.topk(K, dim=-1)
        w = w / w.sum(-1, keepdim=True) * SCALE
        return torch.zeros_like(s).scatter(1, idx, w)


left = Router()
right = Gate(left)


def inputs():
    return (torch.randn(6, D),)
