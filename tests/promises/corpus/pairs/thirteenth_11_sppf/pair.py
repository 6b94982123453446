"""YOLOv5: SPP with kernels 5, 9, 13 and its faster form SPPF."""
import torch
from torch import nn


class Conv(nn.Module):
    def __init__(self, c1, c2):
        super().__init__()
        self.conv = nn.Conv2d(c1, c2, 1, bias=False)
        self.bn = nn.BatchNorm2d(c2)
        self.act = nn.SiLU()
        nn.init.normal_(self.bn.weight, 1.0, 0.2)
        nn.init.normal_(self.bn.bias, 0.0, 0.2)
        nn.init.normal_(self.bn.running_mean, 0.0, 0.2)
        nn.init.uniform_(self.bn.running_var, 0.5, 1.5)

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class SPP(nn.Module):
    def __init__(self, c1, c2, k=(5, 9, 13)):
        super().__init__()
        c_ = c1 // 2
        self.cv1 = Conv(c1, c_)
        self.cv2 = Conv(c_ * (len(k) + 1), c2)
        self.m = nn.ModuleList([nn.MaxPool2d(kernel_size=x, stride=1, padding=x // 2) for x in k])

    def forward(self, x):
        x = self.cv1(x)
        return self.cv2(torch.cat([x] + [m(x) for m in self.m], 1))


class SPPF(nn.Module):
    def __init__(self, c1, c2, k=5):
        super().__init__()
        c_ = c1 // 2
        self.cv1 = Conv(c1, c_)
        self.cv2 = Conv(c_ * 4, c2)
        self.m = nn.MaxPool2d(kernel_size=k, stride=1, padding=k // 2)

    def forward(self, x):
        x = self.cv1(x)
        y1 = self.m(x)
        y2 = self.m(y1)
        return self.cv2(torch.cat((x, y1, y2, self.m(y2)), 1))


torch.manual_seed(0)
left = SPP(8, 6).eval()
right = SPPF(8, 6).eval()
right.load_state_dict(left.state_dict())
inputs = (torch.randn(2, 8, 9, 8),)
