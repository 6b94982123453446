import torch
from torch.nn import functional as F

WINDOW, C1, C2 = 3, 0.01 ** 2, 0.03 ** 2


def by_pooling(x, y):
    """SSIM with a uniform window: moments by average pooling."""
    pool = lambda image: F.avg_pool2d(image, WINDOW, stride=1)
    mu_x, mu_y = pool(x), pool(y)
    var_x = pool(x * x) - mu_x ** 2
    var_y = pool(y * y) - mu_y ** 2
    cov = pool(x * y) - mu_x * mu_y
    numerator = (2 * mu_x * mu_y + C1) * (2 * cov + C2)
    denominator = (mu_x ** 2 + mu_y ** 2 + C1) * (var_x + var_y + C2)
    return (numerator / denominator).mean(dim=(1, 2, 3))


def by_patches(x, y):
    """The same over patches, with centred products."""
    def patches(image):
        return image.unfold(2, WINDOW, 1).unfold(3, WINDOW, 1).flatten(-2)

    p, q = patches(x), patches(y)
    mean_p, mean_q = p.mean(-1), q.mean(-1)
    var_p, var_q = p.var(-1), q.var(-1)
    cov = ((p - mean_p.unsqueeze(-1)) * (q - mean_q.unsqueeze(-1))).mean(-1)
    luminance = (2 * mean_p * mean_q + C1) / (mean_p.square() + mean_q.square() + C1)
    structure = (2 * cov + C2) / (var_p + var_q + C2)
    return (luminance * structure).flatten(1).mean(dim=1)


def example(B=2, C=3, H=5, W=6):
    return torch.rand(B, C, H, W), torch.rand(B, C, H, W)


def inputs():
    return example()
