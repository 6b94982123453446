import torch
from torch import nn

torch.manual_seed(0)


class TorchGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(5, 6, batch_first=True)

    def forward(self, x):
        out, h = self.gru(x)
        return out, h.squeeze(0)


class HandGRU(nn.Module):
    def __init__(self, gru):
        super().__init__()
        for gate, i, h, bi, bh in zip(
            "rzn",
            gru.weight_ih_l0.chunk(3),
            gru.weight_hh_l0.chunk(3),
            gru.bias_ih_l0.chunk(3),
            gru.bias_hh_l0.chunk(3),
        ):
            for name, t in (("W", i), ("U", h), ("b", bi), ("c", bh)):
                setattr(self, name + gate, nn.Parameter(t.detach().clone()))

    def cell(self, x, h):
        r = torch.sigmoid(x @ self.Wr.T + self.br + h @ self.Ur.T + self.cr)
        z = torch.sigmoid(x @ self.Wz.T + self.bz + h @ self.Uz.T + self.cz)
        n = torch.tanh(x @ self.Wn.T + self.bn + r * (h @ self.Un.T + self.cn))
        return n + z * (h - n)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 6)
        states = []
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
            states.append(h)
        return torch.stack(states, 1), h.clone()


left = TorchGRU()
right = HandGRU(left.gru)
inputs = (torch.randn(3, 4, 5),)
