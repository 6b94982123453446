"""Unsharp masking: the 2-D kernel of the prototype, and the separable one that ships."""
import torch
import torch.nn.functional as F


def gauss2d(size, sigma, like):
    r = torch.arange(size, dtype=like.dtype, device=like.device) - (size - 1) / 2
    yy, xx = torch.meshgrid(r, r, indexing="ij")
    k = torch.exp(-(xx ** 2 + yy ** 2) / (2 * sigma ** 2))
    return k / k.sum()


def left(img, amount):
    c = img.shape[1]
    k = gauss2d(5, 1.5, img).expand(c, 1, 5, 5)
    blurred = F.conv2d(F.pad(img, (2, 2, 2, 2), mode="reflect"), k, groups=c)
    return img + amount.view(-1, 1, 1, 1) * (img - blurred)


def gauss1d(size, sigma, like):
    r = torch.arange(size, dtype=like.dtype, device=like.device) - size // 2
    g = torch.exp(-0.5 * (r / sigma).square())
    return g / g.sum()


def right(img, amount):
    b, c, h, w = img.shape
    g = gauss1d(5, 1.5, img)
    planes = img.reshape(b * c, 1, h, w)
    t = F.conv2d(F.pad(planes, (2, 2, 0, 0), mode="reflect"), g.view(1, 1, 1, 5))
    t = F.conv2d(F.pad(t, (0, 0, 2, 2), mode="reflect"), g.view(1, 1, 5, 1))
    a = amount[:, None, None, None]
    return (1 + a) * img - a * t.reshape(b, c, h, w)


inputs = (torch.randn(2, 3, 9, 11), torch.randn(2))
