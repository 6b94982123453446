"""The same as it trains, in the dual form: attention with a lower triangular matrix of decays, without a state."""
import torch
from a import CONV, HEADS, INNER, SIZE, STATE, TAPS, Mamba2
from torch import nn
from torch.nn import functional as F


def segment_sum(x):
    """[..., T] to [..., T, T]: the sum of x over j < k ≤ i, and -inf above the diagonal."""
    total = x.cumsum(-1)
    segments = total[..., :, None] - total[..., None, :]
    lower = torch.ones(x.shape[-1], x.shape[-1], dtype=torch.bool).tril()
    return segments.masked_fill(~lower, float("-inf"))


class DualMamba2(nn.Module):
    def __init__(self):
        super().__init__()
        theirs = Mamba2()
        gate, conv, step = theirs.in_proj.weight.detach().split([INNER, CONV, HEADS])
        self.w_z, self.w_xbc, self.w_dt = (nn.Parameter(w.t().contiguous()) for w in (gate, conv, step))
        self.taps = nn.Parameter(theirs.conv1d.weight.detach().squeeze(1).t().contiguous())
        self.conv_bias = nn.Parameter(theirs.conv1d.bias.detach().clone())
        self.dt_bias, self.A_log, self.D = theirs.dt_bias, theirs.A_log, theirs.D
        self.norm_weight = theirs.norm.weight
        self.w_out = nn.Parameter(theirs.out_proj.weight.detach().t().contiguous())

    def convolved(self, x):
        time = x.shape[1]
        padded = F.pad(x, (0, 0, TAPS - 1, 0))
        out = self.conv_bias
        for tap in range(TAPS):
            out = out + padded[:, tap : tap + time] * self.taps[tap]
        return out * torch.sigmoid(out)

    def forward(self, u):
        z, dt = u @ self.w_z, F.softplus(u @ self.w_dt + self.dt_bias)
        xbc = self.convolved(u @ self.w_xbc)
        x = xbc[..., :INNER].unflatten(-1, (HEADS, SIZE))
        b, c = xbc[..., INNER : INNER + STATE], xbc[..., INNER + STATE :]
        log_decay = -(dt * self.A_log.exp()).transpose(1, 2)
        decays = segment_sum(log_decay).exp()  # [batch, heads, T, T]
        scores = torch.einsum("btn,bsn->bts", c, b)[:, None] * decays
        y = torch.einsum("bhts,bsh,bshp->bthp", scores, dt, x)
        y = y + x * self.D.view(1, 1, HEADS, 1)
        gated = y.flatten(-2) * z * torch.sigmoid(z)
        gated = gated / torch.sqrt(gated.square().mean(-1, keepdim=True) + 1e-5)
        return (gated * self.norm_weight) @ self.w_out
