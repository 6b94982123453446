import torch
from torch import nn
from torch.nn import functional as F


class SelectiveScan(nn.Module):
    """Mamba-2's recurrence, one step after the other; a scalar decay for each head."""

    def __init__(self, heads=3):
        super().__init__()
        self.A_log = nn.Parameter(torch.log(torch.empty(heads).uniform_(1, 8)))
        self.dt_bias = nn.Parameter(torch.randn(heads) * 0.1)
        self.D = nn.Parameter(torch.randn(heads))

    def forward(self, x, dt, B, C):
        # x: (b, l, h, p), dt: (b, l, h), B and C: (b, l, n)
        b, length, h, p = x.shape
        dt = F.softplus(dt + self.dt_bias)
        A = -torch.exp(self.A_log)
        state = x.new_zeros(b, h, p, B.shape[-1])
        ys = []
        for t in range(length):
            decay = torch.exp(dt[:, t] * A)[:, :, None, None]
            write = (dt[:, t, :, None] * x[:, t])[..., None] * B[:, t, None, None, :]
            state = decay * state + write
            ys.append((state * C[:, t, None, None, :]).sum(-1))
        return torch.stack(ys, dim=1) + self.D[:, None] * x


torch.manual_seed(0)
program = SelectiveScan().eval()
