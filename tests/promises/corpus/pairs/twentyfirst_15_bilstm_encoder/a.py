"""Text encoder of a Tacotron: convolution, then a bidirectional LSTM, then a projection."""
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab=12, dim=6, hidden=4):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.proj = nn.Linear(2 * hidden, dim)

    def forward(self, text):
        x = self.embedding(text).transpose(1, 2)
        x = torch.relu(self.conv(x)).transpose(1, 2)
        out, (h, c) = self.lstm(x)
        return self.proj(out), torch.cat([h[0], h[1]], dim=-1)


def inputs():
    return (torch.randint(0, 12, (2, 5)),)
