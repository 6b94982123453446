import torch


def windows(image, size):
    return image.unfold(2, size, 1).unfold(3, size, 1).flatten(-2)


def ssim(x, y, window=3, k1=0.01, k2=0.03):
    a, b = windows(x, window), windows(y, window)
    mean_a, mean_b = a.mean(-1), b.mean(-1)
    var_a, var_b = a.var(-1, correction=0), b.var(-1, correction=0)
    covariance = ((a - mean_a[..., None]) * (b - mean_b[..., None])).mean(-1)
    luminance = (2 * mean_a * mean_b + k1**2) / (mean_a.square() + mean_b.square() + k1**2)
    structure = (2 * covariance + k2**2) / (var_a + var_b + k2**2)
    return torch.mean(luminance * structure)


def inputs():
    x = torch.rand(2, 3, 6, 7)
    return x, (x + 0.1 * torch.randn(2, 3, 6, 7))
