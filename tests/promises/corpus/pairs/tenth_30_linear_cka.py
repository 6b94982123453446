# EQUAL
import torch


def center_gram(K):
    n = K.shape[0]
    H = torch.eye(n, dtype=K.dtype) - torch.full((n, n), 1.0 / n, dtype=K.dtype)
    return H @ K @ H


def left(X, Y):
    """Linear CKA of two representations [n, p] and [n, q], through Gram matrices and HSIC."""
    K, L = center_gram(X @ X.T), center_gram(Y @ Y.T)
    hsic = (K * L).sum()
    return hsic / torch.sqrt((K * K).sum() * (L * L).sum())


def right(X, Y):
    """Through the covariance of the features, which is cheaper for many examples."""
    X = X - X.mean(0)
    Y = Y - Y.mean(0)
    cross = torch.linalg.matrix_norm(X.T @ Y, ord="fro") ** 2
    x_norm = torch.linalg.matrix_norm(X.T @ X, ord="fro")
    y_norm = torch.linalg.matrix_norm(Y.T @ Y, ord="fro")
    return cross / (x_norm * y_norm)


def inputs():
    return torch.randn(8, 3), torch.randn(8, 5)
