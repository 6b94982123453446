"""Child-sum Tree-LSTM on one fixed parse: recursive node by node, and level by level with index_add."""
import torch
from torch import nn

# children of each node; leaves first
CHILDREN = {0: [], 1: [], 2: [], 3: [0, 1], 4: [2], 5: [3, 4]}
LEVELS = [[0, 1, 2], [3, 4], [5]]
D, H = 4, 3


class left(nn.Module):
    def __init__(self):
        super().__init__()
        self.ioux, self.iouh = nn.Linear(D, 3 * H), nn.Linear(H, 3 * H, bias=False)
        self.fx, self.fh = nn.Linear(D, H), nn.Linear(H, H, bias=False)

    def node(self, x, n):
        kids = [self.node(x, k) for k in CHILDREN[n]]
        h_sum = sum((h for _, h in kids), torch.zeros(x.shape[0], H, dtype=x.dtype))
        i, o, u = (self.ioux(x[:, n]) + self.iouh(h_sum)).chunk(3, -1)
        c = torch.sigmoid(i) * torch.tanh(u)
        for ck, hk in kids:
            c = c + torch.sigmoid(self.fx(x[:, n]) + self.fh(hk)) * ck
        return c, torch.sigmoid(o) * torch.tanh(c)

    def forward(self, x):
        return self.node(x, 5)


class right(nn.Module):
    def __init__(self):
        super().__init__()
        ref = left()
        self.wx = nn.Linear(D, 4 * H)
        self.wx.weight.data = torch.cat([ref.ioux.weight.data, ref.fx.weight.data])
        self.wx.bias.data = torch.cat([ref.ioux.bias.data, ref.fx.bias.data])
        self.wh = nn.Linear(H, 4 * H, bias=False)
        self.wh.weight.data = torch.cat([ref.iouh.weight.data, ref.fh.weight.data])

    def forward(self, x):
        b = x.shape[0]
        gates = self.wx(x)
        h, c = x.new_zeros(b, 6, H), x.new_zeros(b, 6, H)
        for level in LEVELS:
            pairs = [(p, k) for p in level for k in CHILDREN[p]]
            acc = gates[:, level]
            mem = x.new_zeros(b, len(level), H)
            if pairs:
                parent = torch.tensor([level.index(p) for p, _ in pairs])
                kid = torch.tensor([k for _, k in pairs])
                hk = self.wh(h[:, kid])
                f = torch.sigmoid(acc[:, parent, 3 * H:] + hk[..., 3 * H:])
                mem = mem.index_add(1, parent, f * c[:, kid])
                iou = acc[..., :3 * H].index_add(1, parent, hk[..., :3 * H])
            else:
                iou = acc[..., :3 * H]
            i, o, u = iou.split(H, -1)
            mem = mem + i.sigmoid() * u.tanh()
            c[:, level] = mem
            h[:, level] = o.sigmoid() * mem.tanh()
        return c[:, 5], h[:, 5]


def inputs():
    return (torch.randn(2, 6, D),)
