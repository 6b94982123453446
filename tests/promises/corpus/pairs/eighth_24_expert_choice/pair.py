import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(34)
D, FF, E, CAP = 8, 12, 3, 4


class ExpertChoice(nn.Module):
    """Experts choose tokens. Dispatch as the paper writes it."""

    def __init__(self):
        super().__init__()
        self.w_gate = nn.Parameter(torch.randn(D, E))
        self.w1 = nn.Parameter(torch.randn(E, D, FF) / D ** 0.5)
        self.w2 = nn.Parameter(torch.randn(E, FF, D) / FF ** 0.5)

    def forward(self, x):
        flat = x.reshape(-1, D)
        S = torch.softmax(flat @ self.w_gate, dim=-1)
        G, I = torch.topk(S.t(), CAP, dim=-1)
        P = F.one_hot(I, flat.shape[0]).to(x.dtype)
        x_in = torch.einsum("ecn,nd->ecd", P, flat)
        h = F.gelu(torch.einsum("ecd,edf->ecf", x_in, self.w1))
        x_e = torch.einsum("ecf,efd->ecd", h, self.w2)
        return torch.einsum("ecn,ec,ecd->nd", P, G, x_e).view_as(x)


class Expert(nn.Module):
    def __init__(self, w1, w2):
        super().__init__()
        self.up, self.down = nn.Linear(D, FF, bias=False), nn.Linear(FF, D, bias=False)
        self.up.weight.data.copy_(w1.T)
        self.down.weight.data.copy_(w2.T)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class ExpertChoiceLoop(nn.Module):
    def __init__(self, old):
        super().__init__()
        self.router = nn.Linear(D, E, bias=False)
        self.router.weight.data.copy_(old.w_gate.data.T)
        self.experts = nn.ModuleList(Expert(a, b) for a, b in zip(old.w1.data, old.w2.data))

    def forward(self, x):
        tokens = x.flatten(0, -2)
        scores = self.router(tokens).softmax(-1)
        out = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            weight, where = scores[:, e].topk(CAP)
            out.index_add_(0, where, expert(tokens[where]) * weight.unsqueeze(-1))
        return out.reshape(x.shape)


left = ExpertChoice()
right = ExpertChoiceLoop(left)
inputs = (torch.randn(2, 5, D),)
