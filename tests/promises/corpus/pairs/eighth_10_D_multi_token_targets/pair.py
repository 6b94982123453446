import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(10)
V, D, HEADS = 15, 8, 3


class MultiToken(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Embedding(V, D)
        self.heads = nn.ModuleList(nn.Linear(D, D) for _ in range(HEADS))
        self.unembed = nn.Linear(D, V, bias=False)

    def forward(self, tokens):
        h = torch.tanh(self.trunk(tokens))
        loss = 0.0
        for k, head in enumerate(self.heads, start=1):
            logits = self.unembed(h[:, :-k] + head(h[:, :-k]))
            loss = loss + F.cross_entropy(logits.flatten(0, 1), tokens[:, k:].flatten())
        return loss / HEADS


class MultiTokenRolled(MultiToken):
    def forward(self, tokens):
        h = torch.tanh(self.trunk(tokens))
        losses = []
        for i in range(HEADS):
            target = torch.roll(tokens, -(i + 1), dims=1)
            target[:, -1:] = -100
            logits = self.unembed(h + self.heads[i](h))
            losses.append(F.cross_entropy(logits.transpose(1, 2), target, ignore_index=-100))
        return torch.stack(losses).mean()


left = MultiToken()
right = MultiTokenRolled()
right.load_state_dict(left.state_dict())
inputs = (torch.randint(0, V, (2, 7)),)
