# EQUAL: Swin shifted-window attention with relative bias and region mask vs windows cut one by one from the rolled map with einops
import torch
from torch import nn
from einops import rearrange

D, H, WS, SH, HW = 8, 2, 2, 1, 4


def rel_index():
    c = torch.stack(torch.meshgrid(torch.arange(WS), torch.arange(WS), indexing="ij")).flatten(1)
    r = (c[:, :, None] - c[:, None, :]).permute(1, 2, 0).contiguous()
    r[:, :, 0] += WS - 1
    r[:, :, 1] += WS - 1
    r[:, :, 0] *= 2 * WS - 1
    return r.sum(-1)


def partition(x):
    b, h, w, c = x.shape
    x = x.view(b, h // WS, WS, w // WS, WS, c)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, WS, WS, c)


class Swin(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.proj = nn.Linear(D, D)
        self.relative_position_bias_table = nn.Parameter(torch.randn((2 * WS - 1) ** 2, H))
        self.register_buffer("relative_position_index", rel_index())
        img = torch.zeros(1, HW, HW, 1)
        cnt = 0
        for hs in (slice(0, -WS), slice(-WS, -SH), slice(-SH, None)):
            for ws in (slice(0, -WS), slice(-WS, -SH), slice(-SH, None)):
                img[:, hs, ws] = cnt
                cnt += 1
        m = partition(img).view(-1, WS * WS)
        m = m.unsqueeze(1) - m.unsqueeze(2)
        self.register_buffer("attn_mask", m.masked_fill(m != 0, -100.0).masked_fill(m == 0, 0.0))

    def forward(self, x):
        b = x.shape[0]
        y = torch.roll(x, shifts=(-SH, -SH), dims=(1, 2))
        win = partition(y).view(-1, WS * WS, D)
        bw, n, _ = win.shape
        q, k, v = self.qkv(win).reshape(bw, n, 3, H, D // H).permute(2, 0, 3, 1, 4).unbind(0)
        a = (q * (D // H) ** -0.5) @ k.transpose(-2, -1)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(n, n, -1).permute(2, 0, 1)
        a = a + bias.unsqueeze(0)
        nw = self.attn_mask.shape[0]
        a = a.view(bw // nw, nw, H, n, n) + self.attn_mask.unsqueeze(1).unsqueeze(0)
        a = a.view(-1, H, n, n).softmax(-1)
        o = self.proj((a @ v).transpose(1, 2).reshape(bw, n, D))
        o = o.view(b, HW // WS, HW // WS, WS, WS, D).permute(0, 1, 3, 2, 4, 5).reshape(b, HW, HW, D)
        return torch.roll(o, shifts=(SH, SH), dims=(1, 2))


class ByWindow(nn.Module):
    def __init__(self, src):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.qkv.load_state_dict(src.qkv.state_dict())
        self.proj.load_state_dict(src.proj.state_dict())
        self.bias = nn.Parameter(src.relative_position_bias_table.detach().clone())

    def forward(self, x):
        qkv = self.qkv(x).roll((-SH, -SH), (1, 2))
        rows = []
        bias = rearrange(self.bias[rel_index()], "i j h -> h i j")
        for i in range(0, HW, WS):
            row = []
            for j in range(0, HW, WS):
                w = qkv[:, i : i + WS, j : j + WS]
                q, k, v = rearrange(w, "b y x (s h d) -> s b h (y x) d", s=3, h=H)
                a = torch.einsum("bhid,bhjd->bhij", q, k) / (D // H) ** 0.5 + bias
                # region of a position in the rolled map: does it come from the wrapped border?
                wy = (torch.arange(i, i + WS) >= HW - SH).long()
                wx = (torch.arange(j, j + WS) >= HW - SH).long()
                region = (2 * wy[:, None] + wx[None]).flatten()
                a = torch.where(region[:, None] == region[None], a, a - 100.0)
                o = a.softmax(-1) @ v
                row.append(rearrange(o, "b h (y x) d -> b y x (h d)", y=WS))
            rows.append(torch.cat(row, 2))
        return self.proj(torch.cat(rows, 1).roll((SH, SH), (1, 2)))


left = Swin()
right = ByWindow(left)


def inputs():
    return (torch.randn(2, HW, HW, D),)
