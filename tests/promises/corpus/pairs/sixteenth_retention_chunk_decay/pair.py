"""RetNet: recurrent form against chunks of 4, one decay per head."""
import torch

CHUNK = 4


def left(q, k, v, gamma_logit):
    g = torch.sigmoid(gamma_logit).view(1, -1, 1, 1)
    b, h, t, d = q.shape
    state = q.new_zeros(b, h, d, v.shape[-1])
    out = []
    for i in range(t):
        state = g * state + k[:, :, i, :, None] * v[:, :, i, None, :]
        out.append(torch.einsum("bhd,bhde->bhe", q[:, :, i], state))
    return torch.stack(out, dim=2)


def right(q, k, v, gamma_logit):
    g = torch.sigmoid(gamma_logit)[:, None, None]
    i = torch.arange(CHUNK)
    gap = i[:, None] - i[None, :]
    inner = torch.where(gap >= 0, g ** gap.clamp(min=0), torch.zeros(()))
    to_query = g ** i[:, None]
    to_end = g ** (CHUNK - 1 - i)[:, None]
    state = q.new_zeros(q.shape[0], q.shape[1], q.shape[3], v.shape[3])
    out = []
    for qc, kc, vc in zip(q.split(CHUNK, 2), k.split(CHUNK, 2), v.split(CHUNK, 2)):
        out.append(((qc @ kc.mT) * inner) @ vc + (qc * to_query) @ state)
        state = g ** CHUNK * state + (kc * to_end).mT @ vc
    return torch.cat(out, dim=2)


inputs = (torch.randn(2, 3, 12, 5), torch.randn(2, 3, 12, 5), torch.randn(2, 3, 12, 6), torch.tensor([2.0, 1.0, 0.5]))
