import torch
from torch import nn

torch.manual_seed(117)


class PCAWhiten(nn.Module):
    """scikit-learn's PCA(whiten=True).transform, from a fitted object's arrays."""

    def __init__(self, mean, components, explained_variance):
        super().__init__()
        self.mean_ = nn.Parameter(mean, requires_grad=False)
        self.components_ = nn.Parameter(components, requires_grad=False)
        self.explained_variance_ = nn.Parameter(explained_variance, requires_grad=False)

    def forward(self, x):
        z = (x - self.mean_) @ self.components_.T
        return z / torch.sqrt(self.explained_variance_)


def folded(pca):
    k, d = pca.components_.shape
    layer = nn.Linear(d, k)
    with torch.no_grad():
        w = pca.components_ / pca.explained_variance_.sqrt()[:, None]
        layer.weight.copy_(w)
        layer.bias.copy_(-(w @ pca.mean_))
    return layer.requires_grad_(False)


def fit(data, k):
    mean = data.mean(dim=0)
    _, s, vt = torch.linalg.svd(data - mean, full_matrices=False)
    return PCAWhiten(mean, vt[:k].contiguous(), s[:k] ** 2 / (data.shape[0] - 1))


left = fit(torch.randn(40, 6) @ torch.randn(6, 6) + torch.randn(6), 4)
right = folded(left)
inputs = (torch.randn(5, 6),)
