"""Bahdanau (additive) attention: one linear on [decoder state; encoder state], and a port that projects the memory once."""
import torch
from torch import nn


class left(nn.Module):
    def __init__(self, dec=4, enc=6, att=5):
        super().__init__()
        self.attn = nn.Linear(dec + enc, att)
        self.v = nn.Linear(att, 1, bias=False)

    def forward(self, hidden, encoder_outputs, mask):
        src = encoder_outputs.shape[1]
        h = hidden.unsqueeze(1).repeat(1, src, 1)
        energy = torch.tanh(self.attn(torch.cat((h, encoder_outputs), dim=2)))
        score = self.v(energy).squeeze(2).masked_fill(~mask, float("-inf"))
        a = score.softmax(dim=1)
        return torch.bmm(a.unsqueeze(1), encoder_outputs).squeeze(1), a


class right(nn.Module):
    def __init__(self, dec=4, enc=6, att=5):
        super().__init__()
        ref = left(dec, enc, att)
        self.query_layer = nn.Linear(dec, att)
        self.memory_layer = nn.Linear(enc, att, bias=False)
        self.query_layer.weight.data = ref.attn.weight.data[:, :dec].clone()
        self.query_layer.bias.data = ref.attn.bias.data.clone()
        self.memory_layer.weight.data = ref.attn.weight.data[:, dec:].clone()
        self.v = nn.Parameter(ref.v.weight.detach()[0].clone())

    def forward(self, hidden, encoder_outputs, mask):
        keys = self.memory_layer(encoder_outputs)
        energy = torch.tanh(self.query_layer(hidden)[:, None] + keys)
        score = torch.where(mask, energy @ self.v, float("-inf"))
        w = torch.exp(score - score.amax(1, keepdim=True))
        w = w / w.sum(1, keepdim=True)
        return torch.einsum("bs,bse->be", w, encoder_outputs), w


def inputs():
    mask = torch.tensor([[True, True, True, True, True], [True, True, True, False, False], [True, True, True, True, False]])
    return (torch.randn(3, 4), torch.randn(3, 5, 6), mask)
