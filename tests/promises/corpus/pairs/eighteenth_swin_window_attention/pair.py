import torch
from torch import nn

DIM, HEADS, WIN = 8, 2, 2


class Partitioned(nn.Module):
    """Swin: windows are put into the batch, attended, and put back."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.table = nn.Parameter(torch.randn((2 * WIN - 1) ** 2, HEADS))

    def forward(self, x):
        B, H, W, C = x.shape
        win = x.view(B, H // WIN, WIN, W // WIN, WIN, C).permute(0, 1, 3, 2, 4, 5).reshape(-1, WIN * WIN, C)
        qkv = self.qkv(win).reshape(-1, WIN * WIN, 3, HEADS, C // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0] * (C // HEADS) ** -0.5, qkv[1], qkv[2]
        coords = torch.stack(torch.meshgrid(torch.arange(WIN), torch.arange(WIN), indexing="ij")).flatten(1)
        rel = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0) + (WIN - 1)
        index = rel[..., 0] * (2 * WIN - 1) + rel[..., 1]
        bias = self.table[index.view(-1)].view(WIN * WIN, WIN * WIN, HEADS).permute(2, 0, 1)
        attn = (q @ k.transpose(-2, -1) + bias.unsqueeze(0)).softmax(dim=-1)
        out = self.proj((attn @ v).transpose(1, 2).reshape(-1, WIN * WIN, C))
        out = out.view(B, H // WIN, W // WIN, WIN, WIN, C).permute(0, 1, 3, 2, 4, 5)
        return out.reshape(B, H, W, C)


class InPlace(nn.Module):
    """Rows and columns stay axes; no window is moved."""

    def __init__(self):
        super().__init__()
        theirs = Partitioned()
        (wq, wk, wv), (bq, bk, bv) = theirs.qkv.weight.detach().chunk(3), theirs.qkv.bias.detach().chunk(3)
        self.wq, self.wk, self.wv = (nn.Parameter(w.clone()) for w in (wq, wk, wv))
        self.bq, self.bk, self.bv = (nn.Parameter(b.clone()) for b in (bq, bk, bv))
        self.out = theirs.proj
        self.relative = nn.Parameter(theirs.table.detach().T.reshape(HEADS, 2 * WIN - 1, 2 * WIN - 1).contiguous())

    def forward(self, x):
        def heads(weight, bias):
            y = x @ weight.T + bias
            return y.unflatten(3, (HEADS, -1)).unflatten(2, (-1, WIN)).unflatten(1, (-1, WIN))

        q, k, v = heads(self.wq, self.bq), heads(self.wk, self.bk), heads(self.wv, self.bv)
        scores = torch.einsum("biajchd,biejfhd->bijhacef", q, k) / (DIM // HEADS) ** 0.5
        step = torch.arange(WIN)
        offset = step[:, None] - step[None, :] + WIN - 1
        bias = self.relative[:, offset[:, None, :, None], offset[None, :, None, :]]
        weights = (scores + bias).flatten(-2).softmax(-1).unflatten(-1, (WIN, WIN))
        mixed = torch.einsum("bijhacef,biejfhd->biajchd", weights, v)
        return self.out(mixed.reshape(x.shape))


def example(B=3, H=4, W=6):
    return (torch.randn(B, H, W, DIM),)


def inputs():
    return example()
