import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(111)


class Block(nn.Module):
    def __init__(self, dim=4, k=5):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, k, padding=k // 2, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 3 * dim)
        self.pwconv2 = nn.Linear(3 * dim, dim)
        self.gamma = nn.Parameter(torch.randn(dim))
        nn.init.normal_(self.norm.weight, 1.0, 0.3)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):
        y = self.dwconv(x).permute(0, 2, 3, 1)
        y = self.pwconv2(F.gelu(self.pwconv1(self.norm(y))))
        return x + (self.gamma * y).permute(0, 3, 1, 2)


class BlockNCHW(nn.Module):
    def __init__(self, dim=4, k=5):
        super().__init__()
        self.dw = nn.Conv2d(dim, dim, k, padding=k // 2, groups=dim)
        self.weight = nn.Parameter(torch.empty(dim))
        self.bias = nn.Parameter(torch.empty(dim))
        self.up = nn.Conv2d(dim, 3 * dim, 1)
        self.down = nn.Conv2d(3 * dim, dim, 1)
        self.layer_scale = nn.Parameter(torch.empty(1, dim, 1, 1))

    def norm(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / torch.sqrt(s + 1e-6)
        return self.weight[:, None, None] * x + self.bias[:, None, None]

    def forward(self, x):
        y = self.down(F.gelu(self.up(self.norm(self.dw(x)))))
        return self.layer_scale * y + x


left = Block()
right = BlockNCHW()
s = left.state_dict()
right.load_state_dict({
    "dw.weight": s["dwconv.weight"], "dw.bias": s["dwconv.bias"],
    "weight": s["norm.weight"], "bias": s["norm.bias"],
    "up.weight": s["pwconv1.weight"][:, :, None, None], "up.bias": s["pwconv1.bias"],
    "down.weight": s["pwconv2.weight"][:, :, None, None], "down.bias": s["pwconv2.bias"],
    "layer_scale": s["gamma"].view(1, -1, 1, 1),
})
inputs = (torch.randn(2, 4, 6, 5),)
