# EQUAL
# One D2Q9 BGK collision and streaming step on a periodic lattice
import torch

C = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
W = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
OMEGA = 1.2


def left(f):
    """f [9, X, Y], populations given by their logarithms."""
    f = f.exp()
    rho = f.sum(0)
    ux = sum(c[0] * f[i] for i, c in enumerate(C)) / rho
    uy = sum(c[1] * f[i] for i, c in enumerate(C)) / rho
    usq = ux * ux + uy * uy
    out = []
    for i, (cx, cy) in enumerate(C):
        cu = 3 * (cx * ux + cy * uy)
        feq = W[i] * rho * (1 + cu + 0.5 * cu * cu - 1.5 * usq)
        post = f[i] - OMEGA * (f[i] - feq)
        out.append(torch.roll(post, shifts=(cx, cy), dims=(0, 1)))
    return torch.stack(out)


def right(f):
    """With momentum in place of velocity and a matrix of moments; streaming pulls by index."""
    e = torch.tensor(C, dtype=f.dtype)
    w = torch.tensor(W, dtype=f.dtype)[:, None, None]
    f = f.exp()
    rho = f.sum(dim=0, keepdim=True)
    j = torch.einsum("qa,qxy->axy", e, f)
    ej = torch.einsum("qa,axy->qxy", e, j)
    feq = w * (rho + 3 * ej + (9 * ej.square() - 3 * j.square().sum(0, keepdim=True)) / (2 * rho))
    post = (1 - OMEGA) * f + OMEGA * feq
    X, Y = f.shape[1:]
    xs, ys = torch.arange(X), torch.arange(Y)
    return torch.stack([post[q][(xs[:, None] - cx) % X, (ys[None, :] - cy) % Y] for q, (cx, cy) in enumerate(C)])


def inputs():
    return (0.1 * torch.randn(9, 5, 4) - 2.0,)
