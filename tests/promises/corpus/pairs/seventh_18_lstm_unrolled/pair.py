import torch
from torch import nn

torch.manual_seed(118)


class Encoder(nn.Module):
    def __init__(self, d=4, h=3):
        super().__init__()
        self.lstm = nn.LSTM(d, h, batch_first=True)

    def forward(self, x):
        out, (h, c) = self.lstm(x)
        return out, h[0], c[0]


class Unrolled(nn.Module):
    def __init__(self, d=4, h=3):
        super().__init__()
        self.h = h
        self.gates = nn.Linear(d + h, 4 * h)

    def load(self, lstm):
        with torch.no_grad():
            self.gates.weight.copy_(torch.cat([lstm.weight_ih_l0, lstm.weight_hh_l0], dim=1))
            self.gates.bias.copy_(lstm.bias_ih_l0 + lstm.bias_hh_l0)
        return self

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.h)
        c = torch.zeros_like(h)
        outs = []
        for t in range(x.shape[1]):
            i, f, g, o = self.gates(torch.cat([x[:, t], h], dim=-1)).chunk(4, dim=-1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outs.append(h)
        return torch.stack(outs, dim=1), h, c


left = Encoder()
right = Unrolled().load(left.lstm)
inputs = (torch.randn(2, 4, 4),)
