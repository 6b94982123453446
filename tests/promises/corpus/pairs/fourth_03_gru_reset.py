# DIFFERENT: right applies the reset gate before the recurrent matmul and bias of n ((r*h)@Wn+bn); nn.GRU applies it after: r*(h@Wn+bn). Place: cell(), line n = torch.tanh(...)
"""Speech encoder: nn.GRU, and the cell ported from our TF1 code base."""
import torch
from torch import nn

torch.manual_seed(3)


class TorchEncoder(nn.Module):
    def __init__(self, n_mels=10, hidden=12):
        super().__init__()
        self.prenet = nn.Sequential(nn.Linear(n_mels, 16), nn.ReLU())
        self.gru = nn.GRU(16, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 5)

    def forward(self, mel):
        h, last = self.gru(self.prenet(mel))
        return self.out(h)


class PortedEncoder(nn.Module):
    def __init__(self, n_mels=10, hidden=12):
        super().__init__()
        self.hidden = hidden
        self.prenet = nn.Sequential(nn.Linear(n_mels, 16), nn.ReLU())
        self.w_ih = nn.Parameter(torch.empty(3 * hidden, 16))
        self.w_hh = nn.Parameter(torch.empty(3 * hidden, hidden))
        self.b_ih = nn.Parameter(torch.empty(3 * hidden))
        self.b_hh = nn.Parameter(torch.empty(3 * hidden))
        self.out = nn.Linear(hidden, 5)

    def cell(self, x, h):
        wr, wz, wn = self.w_hh.chunk(3)
        br, bz, bn = self.b_hh.chunk(3)
        xr, xz, xn = (x @ self.w_ih.T + self.b_ih).chunk(3, dim=-1)
        r = torch.sigmoid(xr + h @ wr.T + br)
        z = torch.sigmoid(xz + h @ wz.T + bz)
        n = torch.tanh(xn + (r * h) @ wn.T + bn)
        return (1 - z) * n + z * h

    def forward(self, mel):
        x = self.prenet(mel)
        h = x.new_zeros(x.size(0), self.hidden)
        outs = []
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
            outs.append(h)
        return self.out(torch.stack(outs, 1))


left = TorchEncoder().eval()
right = PortedEncoder().eval()
right.prenet.load_state_dict(left.prenet.state_dict())
right.out.load_state_dict(left.out.state_dict())
right.w_ih.data.copy_(left.gru.weight_ih_l0)
right.w_hh.data.copy_(left.gru.weight_hh_l0)
right.b_ih.data.copy_(left.gru.bias_ih_l0)
right.b_hh.data.copy_(left.gru.bias_hh_l0)
inputs = (torch.randn(2, 6, 10),)
