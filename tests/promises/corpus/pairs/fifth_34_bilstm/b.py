import torch
from torch import nn

from a import program as original


class Direction(nn.Module):
    """One direction; the matrices of input and state side by side, gates in TensorFlow's order i, g, f, o."""

    def __init__(self, lstm, suffix):
        super().__init__()
        both = torch.cat([getattr(lstm, "weight_ih_l0" + suffix), getattr(lstm, "weight_hh_l0" + suffix)], dim=1)
        self.kernel = nn.Parameter(self.reorder(both.detach()).t().contiguous())
        self.bias_x = nn.Parameter(self.reorder(getattr(lstm, "bias_ih_l0" + suffix).detach()))
        self.bias_h = nn.Parameter(self.reorder(getattr(lstm, "bias_hh_l0" + suffix).detach()))
        self.hidden = lstm.hidden_size

    @staticmethod
    def reorder(rows):
        i, f, g, o = rows.chunk(4)
        return torch.cat([i, g, f, o])

    def forward(self, steps):
        h = c = steps[0].new_zeros(steps[0].shape[0], self.hidden)
        states = []
        for x in steps:
            gates = torch.cat([x, h], dim=-1) @ self.kernel + self.bias_x + self.bias_h
            i, g, f, o = gates.chunk(4, dim=-1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            states.append(h)
        return states


class LoopTagger(nn.Module):
    def __init__(self, tagger):
        super().__init__()
        self.ahead, self.back = Direction(tagger.lstm, ""), Direction(tagger.lstm, "_reverse")
        left, right = tagger.classifier.weight.detach().chunk(2, dim=1)
        self.left, self.right = nn.Parameter(left.t().contiguous()), nn.Parameter(right.t().contiguous())
        self.bias = nn.Parameter(tagger.classifier.bias.detach().clone())

    def forward(self, x):
        steps = list(x.unbind(1))
        ahead = self.ahead(steps)
        back = self.back(steps[::-1])[::-1]
        return torch.stack([a @ self.left + b @ self.right + self.bias for a, b in zip(ahead, back)], dim=1)


program = LoopTagger(original).eval()
