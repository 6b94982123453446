# EQUAL.
"""Two layer nn.LSTM, zero start, vs a stack of nn.LSTMCell with both biases summed into one. EQUAL (summed bias: up to
rounding)."""
import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, lstm):
        super().__init__()
        self.cells = nn.ModuleList()
        for l in range(lstm.num_layers):
            c = nn.LSTMCell(lstm.input_size if l == 0 else lstm.hidden_size, lstm.hidden_size)
            c.weight_ih.data = getattr(lstm, f"weight_ih_l{l}").data.clone()
            c.weight_hh.data = getattr(lstm, f"weight_hh_l{l}").data.clone()
            c.bias_ih.data = getattr(lstm, f"bias_ih_l{l}").data.clone()
            c.bias_hh.data = getattr(lstm, f"bias_hh_l{l}").data.clone()
            self.cells.append(c)

    def forward(self, x):                      # time first
        state = [None] * len(self.cells)
        ys = []
        for xt in x:
            for i, c in enumerate(self.cells):
                state[i] = c(xt, state[i])
                xt = state[i][0]
            ys.append(xt)
        h = torch.stack([s[0] for s in state])
        c = torch.stack([s[1] for s in state])
        return torch.stack(ys), (h, c)


left = nn.LSTM(4, 6, num_layers=2)
right = Stack(left)
inputs = (torch.randn(5, 3, 4),)
