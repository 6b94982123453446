# EQUAL
import torch
from torch import nn
import torch.nn.functional as F


class ConvLSTMCell(nn.Module):
    """One convolution over the concatenation of input and hidden state."""
    def __init__(self, cin=2, hidden=3, k=3):
        super().__init__()
        self.hidden = hidden
        self.conv = nn.Conv2d(cin + hidden, 4 * hidden, k, padding=k // 2)

    def forward(self, x, state):
        h, c = state
        i, f, o, g = self.conv(torch.cat([x, h], dim=1)).split(self.hidden, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, c


class ConvLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = ConvLSTMCell()

    def forward(self, frames):
        B, T, _, H, W = frames.shape
        state = (frames.new_zeros(B, 3, H, W), frames.new_zeros(B, 3, H, W))
        outputs = []
        for t in range(T):
            state = self.cell(frames[:, t], state)
            outputs.append(state[0])
        return torch.stack(outputs, 1), state


class KerasConvLSTM2D(nn.Module):
    """Kernel and recurrent kernel apart, gates in the order i, f, c, o, all frames through the input kernel at once."""
    def __init__(self):
        super().__init__()
        conv = ConvLSTM().cell.conv
        order = [0, 1, 3, 2]
        w = torch.cat([conv.weight.detach().chunk(4)[n] for n in order])
        self.kernel = nn.Parameter(w[:, :2].permute(2, 3, 1, 0).contiguous())            # HWIO
        self.recurrent_kernel = nn.Parameter(w[:, 2:].permute(2, 3, 1, 0).contiguous())
        self.bias = nn.Parameter(torch.cat([conv.bias.detach().chunk(4)[n] for n in order]))

    def forward(self, frames):
        B, T = frames.shape[:2]
        xk = F.conv2d(frames.flatten(0, 1), self.kernel.permute(3, 2, 0, 1), self.bias, padding="same").unflatten(0, (B, T))
        rk = self.recurrent_kernel.permute(3, 2, 0, 1)
        h = c = torch.zeros_like(xk[:, 0, :3])
        hs = []
        for t in range(T):
            i, f, g, o = (xk[:, t] + F.conv2d(h, rk, padding="same")).chunk(4, dim=1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            hs.append(h.unsqueeze(1))
        return torch.cat(hs, 1), (h, c)


left, right = ConvLSTM, KerasConvLSTM2D


def inputs():
    return (torch.randn(3, 4, 2, 5, 6),)
