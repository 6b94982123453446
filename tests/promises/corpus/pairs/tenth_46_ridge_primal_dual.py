# EQUAL
import torch


def left(X, y, X_new):
    """Ridge regression in the primal: (X'X + lambda I)^-1 X'y."""
    lam = 0.5
    p = X.shape[1]
    beta = torch.linalg.solve(X.T @ X + lam * torch.eye(p, dtype=X.dtype), X.T @ y)
    return X_new @ beta


def right(X, y, X_new):
    """Kernel ridge with the linear kernel: k(x, X) (XX' + lambda I)^-1 y."""
    lam = 0.5
    gram = X @ X.mT
    dual = torch.linalg.solve(gram + lam * torch.eye(gram.shape[0], dtype=X.dtype), y)
    return (X_new @ X.mT) @ dual


def inputs():
    return torch.randn(5, 3), torch.randn(5), torch.randn(4, 3)
