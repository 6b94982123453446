"""Photometric loss of self-supervised depth: SSIM + L1, minimum over sources, edge-aware smoothness."""
import torch
import torch.nn.functional as F
from torch import nn

C1, C2 = 0.01 ** 2, 0.03 ** 2


class SSIM(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AvgPool2d(3, 1)
        self.refl = nn.ReflectionPad2d(1)

    def forward(self, x, y):
        x, y = self.refl(x), self.refl(y)
        mu_x, mu_y = self.pool(x), self.pool(y)
        sx = self.pool(x ** 2) - mu_x ** 2
        sy = self.pool(y ** 2) - mu_y ** 2
        sxy = self.pool(x * y) - mu_x * mu_y
        n = (2 * mu_x * mu_y + C1) * (2 * sxy + C2)
        d = (mu_x ** 2 + mu_y ** 2 + C1) * (sx + sy + C2)
        return torch.clamp((1 - n / d) / 2, 0, 1)


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.ssim = SSIM()

    def reproj(self, pred, target):
        l1 = torch.abs(target - pred).mean(1, True)
        return 0.85 * self.ssim(pred, target).mean(1, True) + 0.15 * l1

    def forward(self, target, src_a, src_b, disp):
        losses = torch.cat([self.reproj(s, target) for s in (src_a, src_b)], 1)
        photo, _ = torch.min(losses, dim=1)
        norm = disp / (disp.mean((2, 3), True) + 1e-7)
        gx = torch.abs(norm[..., :-1] - norm[..., 1:]) * torch.exp(-torch.mean(torch.abs(target[..., :-1] - target[..., 1:]), 1, keepdim=True))
        gy = torch.abs(norm[..., :-1, :] - norm[..., 1:, :]) * torch.exp(-torch.mean(torch.abs(target[..., :-1, :] - target[..., 1:, :]), 1, keepdim=True))
        return photo.mean() + 1e-3 * (gx.mean() + gy.mean())


def patches(z):
    return F.pad(z, (1, 1, 1, 1), mode="reflect").unfold(2, 3, 1).unfold(3, 3, 1).flatten(-2)


def loss(target, src_a, src_b, disp):
    pt = patches(target)
    mt = pt.mean(-1)
    ct = pt - mt[..., None]
    maps = []
    for s in (src_a, src_b):
        ps = patches(s)
        ms = ps.mean(-1)
        cs = ps - ms[..., None]
        cov, vs, vt = (cs * ct).mean(-1), cs.square().mean(-1), ct.square().mean(-1)
        ssim = (2 * ms * mt + C1) * (2 * cov + C2) / ((ms * ms + mt * mt + C1) * (vs + vt + C2))
        maps.append(0.85 * (0.5 - 0.5 * ssim).clamp(0, 1).mean(1) + 0.15 * (s - target).abs().mean(1))
    photo = torch.minimum(*maps).mean()
    nd = disp / (disp.mean(dim=(-2, -1), keepdim=True) + 1e-7)
    reg = 0
    for ax in (2, 3):
        wgt = torch.diff(target, dim=ax).abs().mean(1, keepdim=True).neg().exp()
        reg = reg + (torch.diff(nd, dim=ax).abs() * wgt).mean()
    return photo + 1e-3 * reg


left = Loss()
right = loss
inputs = (torch.rand(2, 3, 6, 7), torch.rand(2, 3, 6, 7), torch.rand(2, 3, 6, 7), torch.rand(2, 1, 6, 7))
