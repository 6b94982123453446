"""Augmentation chain (brightness, saturation, contrast, normalise) as one colour matrix."""
import torch
from torch import nn

LUMA = (0.299, 0.587, 0.114)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Chain(nn.Module):
    def __init__(self, brightness=1.2, saturation=0.7, contrast=1.4):
        super().__init__()
        self.b, self.s, self.c = brightness, saturation, contrast

    def forward(self, img):
        img = img * self.b
        grey = LUMA[0] * img[:, 0:1] + LUMA[1] * img[:, 1:2] + LUMA[2] * img[:, 2:3]
        img = self.s * img + (1 - self.s) * grey
        img = (img - 0.5) * self.c + 0.5
        mean = torch.tensor(MEAN).view(1, 3, 1, 1)
        std = torch.tensor(STD).view(1, 3, 1, 1)
        return (img - mean) / std


class Matrix(nn.Module):
    def __init__(self, brightness=1.2, saturation=0.7, contrast=1.4):
        super().__init__()
        luma, std = torch.tensor(LUMA), torch.tensor(STD)
        sat = saturation * torch.eye(3) + (1 - saturation) * luma.expand(3, 3)
        self.m = contrast * brightness * sat / std[:, None]
        self.t = (0.5 - 0.5 * contrast - torch.tensor(MEAN)) / std

    def forward(self, img):
        return torch.einsum("oc,bchw->bohw", self.m, img) + self.t[:, None, None]


def left():
    return Chain()


def right():
    return Matrix()


def inputs():
    return (torch.rand(2, 3, 5, 7),)
