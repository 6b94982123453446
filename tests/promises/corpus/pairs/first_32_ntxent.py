# EQUAL. SimCLR's NT-Xent: 2N x 2N matrix with cross entropy vs positives and negatives apart (EQUAL where no norm is below 1e-12: F.normalize clamps there)
import torch
import torch.nn.functional as F

TAU = 0.2


def left(z1, z2):
    n = z1.shape[0]
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.t() / TAU
    sim.fill_diagonal_(float("-inf"))
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, target)


def right(z1, z2):
    a, b = z1 / z1.norm(dim=-1, keepdim=True), z2 / z2.norm(dim=-1, keepdim=True)
    aa, bb, ab = [torch.exp(m / TAU) for m in (a @ a.mT, b @ b.mT, a @ b.mT)]
    off = 1 - torch.eye(a.shape[0], dtype=a.dtype)
    pos = (a * b).sum(-1) / TAU
    d1 = (aa * off).sum(1) + ab.sum(1)
    d2 = (bb * off).sum(1) + ab.sum(0)
    return (torch.log(d1) - pos + torch.log(d2) - pos).sum() / (2 * a.shape[0])


torch.manual_seed(1)
inputs = (torch.randn(4, 6), torch.randn(4, 6))
