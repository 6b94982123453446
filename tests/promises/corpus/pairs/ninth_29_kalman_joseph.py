# EQUAL
import torch

STATE, OBS = 3, 2


def left(z, F, H, q_log, r_log, L0):
    """textbook filter; z: steps x OBS"""
    eye = torch.eye(STATE, dtype=z.dtype)
    Q, R = torch.diag(q_log.exp()), torch.diag(r_log.exp())
    x = torch.zeros(STATE, dtype=z.dtype)
    P = L0 @ L0.T + eye
    means = []
    for t in range(z.shape[0]):
        x = F @ x
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        K = P @ H.T @ torch.linalg.inv(S)
        x = x + K @ (z[t] - H @ x)
        P = (eye - K @ H) @ P
        means.append(x)
    return torch.stack(means), P


def right(z, F, H, q_log, r_log, L0):
    """Joseph's form of the covariance; the 2 x 2 innovation is inverted by its adjugate"""
    q, r = torch.exp(q_log), torch.exp(r_log)
    mean = z.new_zeros(STATE, 1)
    cov = torch.eye(STATE, dtype=z.dtype) + torch.matmul(L0, L0.mT)
    out = []
    for obs in z:
        mean = torch.matmul(F, mean)
        cov = torch.einsum("ab,bc,dc->ad", F, cov, F) + torch.diag_embed(q)
        PHt = cov @ H.mT
        s = H @ PHt + torch.diag_embed(r)
        det = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
        adj = torch.stack([torch.stack([s[1, 1], -s[0, 1]]), torch.stack([-s[1, 0], s[0, 0]])])
        gain = PHt @ adj / det
        mean = mean + gain @ (obs[:, None] - H @ mean)
        A = torch.eye(STATE, dtype=z.dtype) - gain @ H
        cov = A @ cov @ A.mT + (gain * r) @ gain.mT
        out.append(mean[:, 0])
    return torch.stack(out), cov


def inputs():
    g = torch.Generator().manual_seed(1960)
    r = lambda *s: torch.randn(*s, generator=g)
    return r(2, OBS), r(STATE, STATE) * 0.6, r(OBS, STATE), r(STATE) * 0.3, r(OBS) * 0.3, r(STATE, STATE) * 0.5
