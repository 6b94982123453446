# DIFFERENT. 5 -> 8 nearest upsampling: F.interpolate(mode="nearest") floors, this index picks pixel centres ("nearest-exact")
import torch
import torch.nn.functional as F


def left(x):
    return F.interpolate(x, size=(8, 8), mode="nearest")


def right(x):
    h, w = x.shape[2:]
    iy = ((torch.arange(8) + 0.5) * h / 8).floor().long()
    ix = ((torch.arange(8) + 0.5) * w / 8).floor().long()
    return x[:, :, iy][..., ix]


torch.manual_seed(0)
inputs = (torch.randn(1, 2, 5, 5),)
