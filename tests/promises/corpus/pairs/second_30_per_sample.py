# EQUAL.
"""Per-sample gradients: torch.func.vmap(grad) of a logistic regression vs outer products; and a jacobian. EQUAL."""
import torch
from torch.func import grad, vmap, jacrev
import torch.nn.functional as F


def loss(params, x, y):
    return F.cross_entropy((params["w"] @ x + params["b"])[None], y[None])


def left(w, b, x, y):
    g = vmap(grad(loss), in_dims=(None, 0, 0))({"w": w, "b": b}, x, y)
    jac = vmap(jacrev(lambda v: torch.softmax(w @ v + b, 0)))(x)
    return g["w"], g["b"], jac


def right(w, b, x, y):
    p = torch.softmax(x @ w.T + b, -1)
    d = p - F.one_hot(y, w.shape[0]).to(p.dtype)
    inner = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]
    return d[:, :, None] * x[:, None], d, inner @ w


inputs = (torch.randn(4, 6), torch.randn(4), torch.randn(5, 6), torch.randint(0, 4, (5,)))
