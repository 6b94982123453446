# EQUAL
# Schedule-free SGD on a logistic regression: three sequences x, y, z as in the paper; and only y and z kept
import torch
import torch.nn.functional as F

LR, BETA, STEPS = 0.5, 0.9, 3


def gradient(w, X, t):
    """Mean gradient of the logistic loss, analytically."""
    return X.T @ (torch.sigmoid(X @ w) - t) / X.shape[0]


def left(w0, X, t):
    x = z = w0
    for k in range(STEPS):
        y = (1 - BETA) * z + BETA * x
        z = z - LR * gradient(y, X, t)
        c = 1 / (k + 1)
        x = (1 - c) * x + c * z
    return x


def loss(w, X, t):
    return F.binary_cross_entropy_with_logits(X @ w, t)


def right(w0, X, t):
    """The optimizer holds y and z; x is recovered at the end (train mode to eval mode)."""
    grad = torch.func.grad(loss)
    y, z = w0.clone(), w0.clone()
    for k in range(STEPS):
        g = grad(y, X, t)
        ckp1 = 1.0 / (k + 1)
        y = y.lerp(z, ckp1)
        y = y + LR * (BETA * (1 - ckp1) - 1) * g
        z = z - LR * g
    return y.lerp(z, 1 - 1 / BETA)


def inputs():
    return torch.randn(4), torch.randn(6, 4), torch.tensor([1.0, 0, 1, 1, 0, 0])
