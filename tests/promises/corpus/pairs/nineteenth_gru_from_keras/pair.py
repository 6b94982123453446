"""nn.GRU against the GRU of a Keras checkpoint (reset_after=True, go through time by hand)."""
import torch
from torch import nn


def regrouped(w, size):
    r, z, n = w.detach().split(size)
    w = torch.cat([z, r, n])
    return w.t().contiguous()                                        # biases stay as they are


class Keras(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        self.size = theirs.hidden_size
        self.kernel = nn.Parameter(regrouped(theirs.weight_ih_l0, self.size))
        self.recurrent_kernel = nn.Parameter(regrouped(theirs.weight_hh_l0, self.size))
        self.input_bias = nn.Parameter(regrouped(theirs.bias_ih_l0, self.size))
        self.recurrent_bias = nn.Parameter(regrouped(theirs.bias_hh_l0, self.size))

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.size)
        outputs = []
        for t in range(x.shape[1]):
            matrix_x = x[:, t] @ self.kernel + self.input_bias
            matrix_h = h @ self.recurrent_kernel + self.recurrent_bias
            xz, xr, xh = matrix_x.chunk(3, -1)
            hz, hr, hh = matrix_h.chunk(3, -1)
            z, r = torch.sigmoid(xz + hz), torch.sigmoid(xr + hr)
            candidate = torch.tanh(xh + r * hh)
            h = z * h + (1 - z) * candidate
            outputs.append(h)
        return torch.stack(outputs, 1)


class Torch(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(5, 4, batch_first=True)

    def forward(self, x):
        return self.rnn(x)[0]


left = Torch()
right = Keras(left.rnn)


def inputs():
    return (torch.randn(3, 6, 5),)
