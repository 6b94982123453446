# EQUAL
# Performer: positive random features for softmax attention. With the stabilisers of the reference code and without them,
# causal as a running sum and as a masked matrix.
import math
import torch

torch.manual_seed(7)
PROJECTION = torch.randn(6, 4)


def softmax_kernel(data, projection, is_query):
    d = data.shape[-1]
    x = data * d ** -0.25
    dash = torch.einsum("bhnd,md->bhnm", x, projection)
    diag = (x ** 2).sum(-1, keepdim=True) / 2
    if is_query:
        stab = dash.amax(-1, keepdim=True)
    else:
        stab = dash.amax((-1, -2), keepdim=True)
    return torch.exp(dash - diag - stab) * projection.shape[0] ** -0.5


def left(q, k, v):
    qp = softmax_kernel(q, PROJECTION.to(q.dtype), True)
    kp = softmax_kernel(k, PROJECTION.to(q.dtype), False)
    k_cumsum = kp.cumsum(dim=-2)
    context = torch.einsum("bhnd,bhne->bhnde", kp, v).cumsum(dim=2)
    denom = torch.einsum("bhnd,bhnd->bhn", qp, k_cumsum)
    return torch.einsum("bhnde,bhnd->bhne", context, qp) / denom.unsqueeze(-1)


def right(q, k, v):
    w = PROJECTION.to(q.dtype) / math.sqrt(math.sqrt(q.size(-1)))
    fq = torch.exp(q @ w.T)                                  # |q|^2 / 2 and the constants cancel in the quotient
    fk = torch.exp(k @ w.T - k.square().sum(-1, keepdim=True) / (2 * math.sqrt(k.size(-1))))
    scores = torch.tril(fq @ fk.mT)
    return (scores @ v) / scores.sum(dim=-1, keepdim=True)


def inputs():
    return tuple(torch.randn(2, 3, 5, 4) for _ in range(3))
