# DIFFERENT: eps in the wrong place: right adds 1e-5 to the std, left to the variance before the root. Place: stats()
"""Style transfer: the AdaIN of naoto0804/pytorch-AdaIN, and the port into our video pipeline."""
import torch
import torch.nn as nn

torch.manual_seed(22)


def calc_mean_std(feat, eps=1e-5):
    N, C = feat.size()[:2]
    feat_var = feat.view(N, C, -1).var(dim=2) + eps
    feat_std = feat_var.sqrt().view(N, C, 1, 1)
    feat_mean = feat.view(N, C, -1).mean(dim=2).view(N, C, 1, 1)
    return feat_mean, feat_std


class AdaINNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(3, 6, 3), nn.ReLU())
        self.dec = nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(6, 3, 3))

    def forward(self, content, style):
        c, s = self.enc(content), self.enc(style)
        style_mean, style_std = calc_mean_std(s)
        content_mean, content_std = calc_mean_std(c)
        t = (c - content_mean) / content_std
        return self.dec(t * style_std + style_mean)


class Ported(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.enc, self.dec = net.enc, net.dec

    @staticmethod
    def stats(f):
        return f.mean((2, 3), keepdim=True), f.std((2, 3), keepdim=True) + 1e-5

    def forward(self, content, style):
        c = self.enc(content)
        m, s = self.stats(c)
        m2, s2 = self.stats(self.enc(style))
        scale = s2 / s
        return self.dec(c * scale + (m2 - m * scale))


left = AdaINNet().eval()
right = Ported(left).eval()
inputs = (torch.rand(1, 3, 12, 12), torch.rand(1, 3, 12, 12))
