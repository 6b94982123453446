import torch
from torch.nn import functional as F


def ssim(x, y, window=3, c1=0.01**2, c2=0.03**2):
    mu_x = F.avg_pool2d(x, window, stride=1)
    mu_y = F.avg_pool2d(y, window, stride=1)
    sigma_x = F.avg_pool2d(x * x, window, stride=1) - mu_x.pow(2)
    sigma_y = F.avg_pool2d(y * y, window, stride=1) - mu_y.pow(2)
    sigma_xy = F.avg_pool2d(x * y, window, stride=1) - mu_x * mu_y
    numerator = (2 * mu_x * mu_y + c1) * (2 * sigma_xy + c2)
    denominator = (mu_x**2 + mu_y**2 + c1) * (sigma_x + sigma_y + c2)
    return (numerator / denominator).mean()


def inputs():
    x = torch.rand(2, 3, 6, 7)
    return x, (x + 0.1 * torch.randn(2, 3, 6, 7))
