import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(119)


class CausalBlock(nn.Module):
    def __init__(self, c_in=3, c=4, k=3):
        super().__init__()
        self.k = k
        self.conv1 = nn.Conv1d(c_in, c, k)
        self.conv2 = nn.Conv1d(c, c, k, dilation=2)
        self.skip = nn.Conv1d(c_in, c, 1)

    def forward(self, x):
        y = F.relu(self.conv1(F.pad(x, (self.k - 1, 0))))
        y = F.relu(self.conv2(F.pad(y, (2 * (self.k - 1), 0))))
        return F.relu(y + self.skip(x))


class ChompBlock(nn.Module):
    """As in the TCN repository: symmetric padding, then chomp."""

    def __init__(self, c_in=3, c=4, k=3):
        super().__init__()
        self.conv1 = nn.Conv1d(c_in, c, k, padding=k - 1)
        self.conv2 = nn.Conv1d(c, c, k, padding=2 * (k - 1), dilation=2)
        self.skip = nn.Conv1d(c_in, c, 1)
        self.chomp1, self.chomp2 = k - 1, 2 * (k - 1)

    def forward(self, x):
        y = torch.relu(self.conv1(x)[:, :, :-self.chomp1].contiguous())
        y = torch.relu(self.conv2(y)[:, :, self.chomp2:].contiguous())
        return torch.relu(self.skip(x) + y)


left = CausalBlock()
right = ChompBlock()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 3, 9),)
