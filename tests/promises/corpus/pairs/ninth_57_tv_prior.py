# EQUAL
import torch


def left(img):
    dy = img[:, :, 1:, :] - img[:, :, :-1, :]
    dx = img[:, :, :, 1:] - img[:, :, :, :-1]
    return dy.abs().mean() + dx.abs().mean()


def right(img):
    b, c, h, w = img.shape
    vertical = torch.diff(img, dim=-2).abs().sum() / (b * c * (h - 1) * w)
    horizontal = torch.diff(img, dim=-1).abs().sum() / (b * c * h * (w - 1))
    return vertical + horizontal


torch.manual_seed(2)
inputs = (torch.rand(2, 3, 5, 4),)
