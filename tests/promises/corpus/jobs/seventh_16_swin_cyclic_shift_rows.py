# A shifted-window block of Swin with the image's rows cut over the ranks. torch.roll along the height becomes an exchange of
# `shift` rows with the neighbours on a ring; windows then lie within one rank.
import torch
import torch.distributed as dist
from torch import nn

WINDOW, SHIFT, HEADS, DIM = 2, 1, 2, 8
GRID_H, GRID_W = 8, 4


def region_mask():
    """-100 between tokens of a window that the cyclic shift brought together from different sides."""
    img = torch.zeros(GRID_H, GRID_W)
    count = 0
    for h in (slice(0, -WINDOW), slice(-WINDOW, -SHIFT), slice(-SHIFT, None)):
        for w in (slice(0, -WINDOW), slice(-WINDOW, -SHIFT), slice(-SHIFT, None)):
            img[h, w] = count
            count += 1
    win = to_windows(img[None, :, :, None]).squeeze(-1)
    return (win.unsqueeze(1) - win.unsqueeze(2)).ne(0) * -100.0


def to_windows(x):
    b, h, w, c = x.shape
    x = x.view(b, h // WINDOW, WINDOW, w // WINDOW, WINDOW, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, WINDOW * WINDOW, c)


def from_windows(win, b, h, w):
    x = win.view(b, h // WINDOW, w // WINDOW, WINDOW, WINDOW, -1)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, -1)


class ShiftedWindowAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.rel = nn.Parameter(torch.randn(HEADS, WINDOW * WINDOW, WINDOW * WINDOW) * 0.1)

    def roll(self, x, by):
        return torch.roll(x, (by, by), dims=(1, 2))

    def mask(self):
        return region_mask()

    def forward(self, x):
        b, h, w, c = x.shape
        win = to_windows(self.roll(self.norm(x), -SHIFT))
        n, t, _ = win.shape
        q, k, v = self.qkv(win).view(n, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4)
        score = q @ k.transpose(-1, -2) * (c // HEADS) ** -0.5 + self.rel
        mask = self.mask().to(score.dtype)
        score = score.view(b, -1, HEADS, t, t) + mask[None, :, None]
        att = score.view(n, HEADS, t, t).softmax(-1)
        out = self.proj((att @ v).transpose(1, 2).reshape(n, t, c))
        return x + self.roll(from_windows(out, b, h, w), SHIFT)


class RowParallel(ShiftedWindowAttention):
    def __init__(self, rank, world_size):
        super().__init__()
        self.rank, self.world_size = rank, world_size

    def ring(self, rows, to, source):
        got = torch.empty_like(rows)
        for r in dist.batch_isend_irecv([dist.P2POp(dist.isend, rows, to), dist.P2POp(dist.irecv, got, source)]):
            r.wait()
        return got

    def roll(self, x, by):
        up, down = (self.rank - 1) % self.world_size, (self.rank + 1) % self.world_size
        if by < 0:                                    # my first rows go to the rank above
            got = self.ring(x[:, :-by].contiguous(), up, down)
            x = torch.cat([x[:, -by:], got], dim=1)
        else:
            got = self.ring(x[:, -by:].contiguous(), down, up)
            x = torch.cat([got, x[:, :-by]], dim=1)
        return torch.roll(x, by, dims=2)              # the width is all here

    def mask(self):
        return region_mask().chunk(self.world_size)[self.rank]


def sequential():
    return ShiftedWindowAttention()


def distributed(rank, world_size):
    return RowParallel(rank, world_size)


def inputs():
    return (torch.randn(2, GRID_H, GRID_W, DIM),)


world_size = 2
relations = {"x": "shard(1)"}
expected = {"0": "shard(1)"}
TRUTH = "refines"
