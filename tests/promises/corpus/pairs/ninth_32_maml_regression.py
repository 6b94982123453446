# EQUAL
"""Meta-gradient of one inner step on linear regression, differentiated through and in closed form."""
import torch

INNER = 0.1


def left(w, xs, ys, xq, yq):
    w = w.detach().requires_grad_(True)
    total = 0.0
    with torch.enable_grad():
        for x, y, x2, y2 in zip(xs, ys, xq, yq):
            loss = ((x @ w - y) ** 2).mean()
            (grad,) = torch.autograd.grad(loss, w, create_graph=True)
            adapted = w - INNER * grad
            total = total + ((x2 @ adapted - y2) ** 2).mean()
        total = total / xs.shape[0]
        (meta,) = torch.autograd.grad(total, w)
    return total.detach(), meta


def right(w, xs, ys, xq, yq):
    n, m = xs.shape[1], xq.shape[1]
    resid = torch.einsum("tnd,d->tn", xs, w) - ys
    fast = w - INNER * 2 / n * torch.einsum("tnd,tn->td", xs, resid)
    outer = torch.einsum("tmd,td->tm", xq, fast) - yq
    g = 2 / m * torch.einsum("tmd,tm->td", xq, outer)
    # (I - a H) g, and H never made
    hg = 2 / n * torch.einsum("tnd,tn->td", xs, torch.einsum("tnd,td->tn", xs, g))
    return outer.square().mean(), (g - INNER * hg).mean(0)


def inputs():
    torch.manual_seed(1703)
    return torch.randn(4), torch.randn(3, 6, 4), torch.randn(3, 6), torch.randn(3, 5, 4), torch.randn(3, 5)
