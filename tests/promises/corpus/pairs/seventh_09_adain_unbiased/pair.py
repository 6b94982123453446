import torch

torch.manual_seed(109)
EPS = 1e-5


def left(content, style):
    """Adaptive instance normalisation (Huang & Belongie)."""
    c_mean = content.mean(dim=(2, 3), keepdim=True)
    c_std = torch.std(content, dim=(2, 3), keepdim=True) + EPS
    s_mean = style.mean(dim=(2, 3), keepdim=True)
    s_std = torch.std(style, dim=(2, 3), keepdim=True) + EPS
    return s_std * (content - c_mean) / c_std + s_mean


def moments(x):
    flat = x.flatten(2)
    mean = flat.mean(dim=2)
    var = (flat * flat).mean(dim=2) - mean * mean
    return mean[..., None, None], var.sqrt()[..., None, None] + EPS


def right(content, style):
    c_mean, c_std = moments(content)
    s_mean, s_std = moments(style)
    return (content - c_mean) / c_std * s_std + s_mean


inputs = (torch.randn(2, 3, 4, 4), 2 * torch.randn(2, 3, 3, 2) + 1)
