"""The same step by step, ported from the Keras layer."""
import torch
from torch import nn
from torch.nn import functional as F

from a import Recurrent


class Ported(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = Recurrent()
        r, z, n = theirs.rnn.weight_hh_l0.detach().chunk(3)
        self.kernel, self.bias = theirs.rnn.weight_ih_l0, theirs.rnn.bias_ih_l0
        self.gates_recurrent = nn.Parameter(torch.cat((r, z)))
        self.candidate_recurrent = nn.Parameter(n.clone())
        bias = theirs.rnn.bias_hh_l0.detach()
        self.gates_bias = nn.Parameter(bias[: -r.shape[0]].clone())
        self.candidate_bias = nn.Parameter(bias[-r.shape[0] :].clone())
        self.head = theirs.head

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.candidate_bias.shape[0])
        projected = F.linear(x, self.kernel, self.bias)
        states = []
        for t in range(x.shape[1]):
            x_r, x_z, x_n = projected[:, t].chunk(3, dim=-1)
            h_r, h_z = F.linear(h, self.gates_recurrent, self.gates_bias).chunk(2, dim=-1)
            reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
            new = torch.tanh(x_n + F.linear(reset * h, self.candidate_recurrent, self.candidate_bias))
            h = update * h + (1 - update) * new
            states.append(h)
        return torch.stack(states, dim=1), self.head(h)
