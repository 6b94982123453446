# EQUAL
# One Muon update of a matrix: momentum, Newton-Schulz orthogonalisation, scaled step
import torch

COEFFS = (3.4445, -4.7750, 2.0315)


def zeropower_via_newtonschulz5(G, steps=3):
    a, b, c = COEFFS
    X = G / (G.norm() + 1e-7)
    if G.size(0) > G.size(1):
        X = X.T
    for _ in range(steps):
        A = X @ X.T
        B = b * A + c * A @ A
        X = a * X + B @ X
    if G.size(0) > G.size(1):
        X = X.T
    return X


def left(param, grad, momentum_buffer):
    lr, momentum = 0.02, 0.95
    buf = momentum_buffer * momentum + grad
    update = grad + momentum * buf          # nesterov
    update = zeropower_via_newtonschulz5(update)
    scale = max(1, param.size(-2) / param.size(-1)) ** 0.5
    return param - lr * scale * update, buf


def right(param, grad, momentum_buffer):
    """Without transposing: the polynomial is applied from the right, in Horner form, to a tall matrix."""
    a, b, c = COEFFS
    rows, cols = param.shape
    buf = torch.add(grad, momentum_buffer, alpha=0.95)
    x = torch.add(grad, buf, alpha=0.95)
    x = x / (torch.sqrt(torch.sum(x * x)) + 1e-7)
    eye = torch.eye(cols, dtype=x.dtype)
    for _ in range(3):
        gram = x.mT @ x
        x = x @ (a * eye + gram @ (b * eye + c * gram))
    ratio = rows / cols
    return param.sub(x, alpha=0.02 * (ratio if ratio > 1 else 1) ** 0.5), buf


def inputs():
    return torch.randn(6, 4), torch.randn(6, 4), torch.randn(6, 4)
