# EQUAL. nn.GRUCell vs a cell with split weights and h' = h + z' (n - h)
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(8)
cell = nn.GRUCell(6, 5)


class Cell(nn.Module):
    def __init__(self, ref):
        super().__init__()
        names = ["r", "z", "n"]
        for i, n in enumerate(names):
            sl = slice(i * 5, (i + 1) * 5)
            self.register_parameter("W" + n, nn.Parameter(ref.weight_ih.data[sl].clone()))
            self.register_parameter("U" + n, nn.Parameter(ref.weight_hh.data[sl].clone()))
            self.register_parameter("bi" + n, nn.Parameter(ref.bias_ih.data[sl].clone()))
            self.register_parameter("bh" + n, nn.Parameter(ref.bias_hh.data[sl].clone()))

    def forward(self, x, h):
        r = torch.sigmoid(F.linear(x, self.Wr, self.bir) + F.linear(h, self.Ur, self.bhr))
        z = torch.sigmoid(F.linear(x, self.Wz, self.biz) + F.linear(h, self.Uz, self.bhz))
        n = torch.tanh(F.linear(x, self.Wn, self.bin) + r * F.linear(h, self.Un, self.bhn))
        return h + (1 - z) * (n - h)


left = cell
right = Cell(cell)
inputs = (torch.randn(3, 6), torch.randn(3, 5))
