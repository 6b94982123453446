import torch
from torch.nn import functional as F

TEMPERATURE = 0.5


def stacked(z1, z2):
    """NT-Xent over the 2B × 2B matrix."""
    batch = z1.shape[0]
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    similarity = z @ z.T / TEMPERATURE
    similarity = similarity.masked_fill(torch.eye(2 * batch, dtype=torch.bool), float("-inf"))
    positives = (torch.arange(2 * batch) + batch) % (2 * batch)
    return F.cross_entropy(similarity, positives)


def in_blocks(z1, z2):
    """The four B × B blocks by themselves, as Google's code has it."""
    batch = z1.shape[0]
    a, b = F.normalize(z1, dim=1), F.normalize(z2, dim=1)
    itself = torch.eye(batch, dtype=torch.bool)
    labels = torch.arange(batch)
    aa = (a @ a.T / TEMPERATURE).masked_fill(itself, float("-inf"))
    bb = b @ b.T / TEMPERATURE
    ab = a @ b.T / TEMPERATURE
    loss_a = F.cross_entropy(torch.cat([ab, aa], dim=1), labels)
    loss_b = F.cross_entropy(torch.cat([ab.T, bb], dim=1), labels)
    return (loss_a + loss_b) / 2


def example(B=4, D=6):
    return torch.randn(B, D), torch.randn(B, D)


def inputs():
    return example()
