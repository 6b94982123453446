import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
C, T_DIM, GROUPS = 8, 12, 4


def timestep_embedding(t, dim):
    half = dim // 2
    exponent = -math.log(10000) * torch.arange(half, dtype=torch.float32) / half
    emb = t[:, None].float() * torch.exp(exponent)[None, :]
    return torch.cat([torch.sin(emb), torch.cos(emb)], dim=-1)


class ResnetBlock2D(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.GroupNorm(GROUPS, C, eps=1e-6)
        self.conv1 = nn.Conv2d(C, C, 3, padding=1)
        self.time_emb_proj = nn.Linear(T_DIM, C)
        self.norm2 = nn.GroupNorm(GROUPS, C, eps=1e-6)
        self.conv2 = nn.Conv2d(C, C, 3, padding=1)
        self.nonlinearity = nn.SiLU()

    def forward(self, x, temb):
        h = self.conv1(self.nonlinearity(self.norm1(x)))
        h = h + self.time_emb_proj(self.nonlinearity(temb))[:, :, None, None]
        h = self.conv2(self.nonlinearity(self.norm2(h)))
        return x + h


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.group_norm = nn.GroupNorm(GROUPS, C, eps=1e-6)
        self.to_q, self.to_k, self.to_v = nn.Linear(C, C), nn.Linear(C, C), nn.Linear(C, C)
        self.to_out = nn.Linear(C, C)

    def forward(self, x):
        b, c, h, w = x.shape
        y = self.group_norm(x.view(b, c, h * w)).transpose(1, 2)
        q, k, v = (m(y).unsqueeze(1) for m in (self.to_q, self.to_k, self.to_v))
        y = F.scaled_dot_product_attention(q, k, v).squeeze(1)
        y = self.to_out(y).transpose(-1, -2).reshape(b, c, h, w)
        return y + x


class DiffusersBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_1, self.linear_2 = nn.Linear(T_DIM, T_DIM), nn.Linear(T_DIM, T_DIM)
        self.resnet = ResnetBlock2D()
        self.attn = Attention()
        self.downsample = nn.Conv2d(C, C, 3, stride=2, padding=0)
        for m in self.modules():
            if isinstance(m, nn.GroupNorm):
                nn.init.normal_(m.weight, 1.0, 0.2)
                nn.init.normal_(m.bias, 0.0, 0.2)

    def forward(self, x, t):
        temb = self.linear_2(F.silu(self.linear_1(timestep_embedding(t, T_DIM))))
        h = self.attn(self.resnet(x, temb))
        return {"hidden": h, "down": self.downsample(F.pad(h, (0, 1, 0, 1)))}


def nonlinearity(x):
    return x * torch.sigmoid(x)


class Normalize(nn.Module):
    def __init__(self, gn):
        super().__init__()
        self.g = nn.Parameter(gn.weight.detach().clone())
        self.b = nn.Parameter(gn.bias.detach().clone())

    def forward(self, x):
        n, c, h, w = x.shape
        y = x.reshape(n, GROUPS, -1)
        mean = y.mean(2, keepdim=True)
        var = (y * y).mean(2, keepdim=True) - mean * mean
        y = ((y - mean) * torch.rsqrt(var + 1e-6)).reshape(n, c, h, w)
        return y * self.g[None, :, None, None] + self.b[None, :, None, None]


def conv1x1(linear):
    conv = nn.Conv2d(C, C, 1)
    conv.weight.data = linear.weight.data[:, :, None, None].clone()
    conv.bias.data = linear.bias.data.clone()
    return conv


def twin(m):
    new = nn.Conv2d(C, C, 3, stride=m.stride, padding=m.padding)
    new.load_state_dict(m.state_dict())
    return new


class CompVisBlock(nn.Module):
    def __init__(self, ref):
        super().__init__()
        self.dense = nn.ModuleList([nn.Linear(T_DIM, T_DIM), nn.Linear(T_DIM, T_DIM)])
        self.dense[0].load_state_dict(ref.linear_1.state_dict())
        self.dense[1].load_state_dict(ref.linear_2.state_dict())
        r, a = ref.resnet, ref.attn
        self.norm1, self.norm2, self.norm = Normalize(r.norm1), Normalize(r.norm2), Normalize(a.group_norm)
        self.conv1, self.conv2 = twin(r.conv1), twin(r.conv2)
        self.temb_proj = nn.Linear(T_DIM, C)
        self.temb_proj.load_state_dict(r.time_emb_proj.state_dict())
        self.q, self.k, self.v, self.proj_out = map(conv1x1, (a.to_q, a.to_k, a.to_v, a.to_out))
        self.down = twin(ref.downsample)

    def forward(self, x, t):
        temb = timestep_embedding(t, T_DIM)
        temb = self.dense[1](nonlinearity(self.dense[0](temb)))
        h = self.conv1(nonlinearity(self.norm1(x)))
        h = h + self.temb_proj(nonlinearity(temb))[:, :, None, None]
        x = x + self.conv2(nonlinearity(self.norm2(h)))
        b, c, hh, ww = x.shape
        y = self.norm(x)
        q = self.q(y).reshape(b, c, hh * ww).permute(0, 2, 1)
        k = self.k(y).reshape(b, c, hh * ww)
        v = self.v(y).reshape(b, c, hh * ww)
        w_ = torch.bmm(q, k) * (int(c) ** (-0.5))
        w_ = F.softmax(w_, dim=2).permute(0, 2, 1)
        x = x + self.proj_out(torch.bmm(v, w_).reshape(b, c, hh, ww))
        return {"down": self.down(F.pad(x, (0, 1, 0, 1), mode="constant", value=0)), "hidden": x}


left = DiffusersBlock().eval()
right = CompVisBlock(left).eval()
inputs = (torch.randn(2, C, 6, 6), torch.tensor([3, 250]))
