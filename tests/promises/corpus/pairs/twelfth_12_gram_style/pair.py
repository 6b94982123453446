"""Style loss: mean squared difference of Gram matrices of two feature maps."""
import torch
from torch.nn import functional as F


def gram(features):
    b, c, h, w = features.size()
    f = features.view(b, c, h * w)
    return torch.bmm(f, f.transpose(1, 2)).div(c * h * w)


def left(generated, style):
    return F.mse_loss(gram(generated), gram(style))


def right(generated, style):
    b, c = generated.shape[:2]
    g = torch.einsum("bchw,bdhw->bcd", generated, generated) / generated[0, 0].numel()
    s = torch.einsum("bchw,bdhw->bcd", style, style) / style[0, 0].numel()
    return (g - s).pow(2).sum() / (b * c**4)


inputs = (torch.randn(2, 5, 4, 6), torch.randn(2, 5, 3, 7))
