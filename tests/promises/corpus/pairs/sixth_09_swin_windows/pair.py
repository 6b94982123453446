import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
DIM, HEADS, WS, SHIFT, RES = 8, 2, 2, 1, 4


def window_partition(x, ws):
    B, H, W, C = x.shape
    x = x.view(B, H // ws, ws, W // ws, ws, C)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, ws * ws, C)


def window_reverse(windows, ws, H, W):
    B = int(windows.shape[0] / (H * W / ws / ws))
    x = windows.view(B, H // ws, W // ws, ws, ws, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(B, H, W, -1)


def relative_index(ws):
    coords = torch.stack(torch.meshgrid(torch.arange(ws), torch.arange(ws), indexing="ij")).flatten(1)
    rel = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0) + ws - 1
    return rel[..., 0] * (2 * ws - 1) + rel[..., 1]


class SwinAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.bias_table = nn.Parameter(torch.randn((2 * WS - 1) ** 2, HEADS))
        self.register_buffer("rel", relative_index(WS))
        img = torch.zeros(1, RES, RES, 1)
        cnt = 0
        for h in (slice(0, -WS), slice(-WS, -SHIFT), slice(-SHIFT, None)):
            for w in (slice(0, -WS), slice(-WS, -SHIFT), slice(-SHIFT, None)):
                img[:, h, w] = cnt
                cnt += 1
        mw = window_partition(img, WS).squeeze(-1)
        mask = mw[:, None, :] - mw[:, :, None]
        self.register_buffer("mask", mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0))

    def forward(self, x):
        B, H, W, C = x.shape
        x = torch.roll(x, (-SHIFT, -SHIFT), (1, 2))
        win = window_partition(x, WS)
        n, L, _ = win.shape
        q, k, v = self.qkv(win).reshape(n, L, 3, HEADS, C // HEADS).permute(2, 0, 3, 1, 4)
        att = (q * (C // HEADS) ** -0.5) @ k.transpose(-2, -1)
        bias = self.bias_table[self.rel.view(-1)].view(L, L, HEADS).permute(2, 0, 1)
        att = att + bias
        nw = self.mask.shape[0]
        att = att.view(n // nw, nw, HEADS, L, L) + self.mask[None, :, None]
        att = att.view(-1, HEADS, L, L).softmax(-1)
        out = (att @ v).transpose(1, 2).reshape(n, L, C)
        x = window_reverse(self.proj(out), WS, H, W)
        return torch.roll(x, (SHIFT, SHIFT), (1, 2))


class ByWindow(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(DIM, DIM) for _ in range(3))
        for i, m in enumerate((self.q, self.k, self.v)):
            m.weight.data = ref.qkv.weight.data[i * DIM : (i + 1) * DIM].clone()
            m.bias.data = ref.qkv.bias.data[i * DIM : (i + 1) * DIM].clone()
        self.proj = nn.Linear(DIM, DIM)
        self.proj.load_state_dict(ref.proj.state_dict())
        self.table = nn.Parameter(ref.bias_table.detach().t().reshape(HEADS, 2 * WS - 1, 2 * WS - 1).clone())

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        out = torch.zeros_like(x)
        for wy in range(RES // WS):
            for wx in range(RES // WS):
                cells = [((wy * WS + i + SHIFT) % RES, (wx * WS + j + SHIFT) % RES, i, j) for i in range(WS) for j in range(WS)]
                # a window that wraps around the border holds pixels from both sides of it
                side = [(y < SHIFT, c < SHIFT) for y, c, _, _ in cells]
                for a, (ya, xa, ia, ja) in enumerate(cells):
                    heads = []
                    for h in range(HEADS):
                        s = slice(h * DIM // HEADS, (h + 1) * DIM // HEADS)
                        logits, vals = [], []
                        for b, (yb, xb, ib, jb) in enumerate(cells):
                            dot = (q[:, ya, xa, s] * k[:, yb, xb, s]).sum(-1) / (DIM // HEADS) ** 0.5
                            dot = dot + self.table[h, ia - ib + WS - 1, ja - jb + WS - 1]
                            if side[a] != side[b]:
                                dot = dot - 100.0
                            logits.append(dot)
                            vals.append(v[:, yb, xb, s])
                        p = F.softmax(torch.stack(logits, -1), -1)
                        heads.append((p.unsqueeze(-1) * torch.stack(vals, 1)).sum(1))
                    out[:, ya, xa] = torch.cat(heads, -1)
        return self.proj(out)


left = SwinAttention()
right = ByWindow(left)
inputs = (torch.randn(2, RES, RES, DIM),)
