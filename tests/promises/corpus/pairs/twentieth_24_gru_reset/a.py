"""A GRU by torch, with a projection of its last state."""
import torch
from torch import nn

WIDTH, HIDDEN, OUT = 5, 6, 3


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(WIDTH, HIDDEN, batch_first=True)
        self.head = nn.Linear(HIDDEN, OUT)

    def forward(self, x):
        states, last = self.rnn(x)
        return states, self.head(last[0])


def inputs():
    return (torch.randn(2, 4, WIDTH),)
