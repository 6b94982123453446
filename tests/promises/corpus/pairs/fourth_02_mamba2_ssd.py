# EQUAL
"""State-space duality: the recurrence of Mamba-2, step by step, against ssd_minimal_discrete in chunks."""
import torch
import torch.nn.functional as F
from einops import rearrange, repeat


def segsum(x):
    T = x.size(-1)
    x = repeat(x, "... d -> ... d e", e=T)
    mask = torch.tril(torch.ones(T, T, device=x.device, dtype=torch.bool), diagonal=-1)
    x = x.masked_fill(~mask, 0)
    x_segsum = torch.cumsum(x, dim=-2)
    mask = torch.tril(torch.ones(T, T, device=x.device, dtype=torch.bool), diagonal=0)
    return x_segsum.masked_fill(~mask, -torch.inf)


def ssd_minimal_discrete(X, A, B, C, block_len):
    X, A, B, C = [rearrange(x, "b (c l) ... -> b c l ...", l=block_len) for x in (X, A, B, C)]
    A = rearrange(A, "b c l h -> b h c l")
    A_cumsum = torch.cumsum(A, dim=-1)
    L = torch.exp(segsum(A))
    Y_diag = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", C, B, L, X)
    decay_states = torch.exp(A_cumsum[:, :, :, -1:] - A_cumsum)
    states = torch.einsum("bclhn,bhcl,bclhp->bchpn", B, decay_states, X)
    initial_states = torch.zeros_like(states[:, :1])
    states = torch.cat([initial_states, states], dim=1)
    decay_chunk = torch.exp(segsum(F.pad(A_cumsum[:, :, :, -1], (1, 0))))
    new_states = torch.einsum("bhzc,bchpn->bzhpn", decay_chunk, states)
    states, final_state = new_states[:, :-1], new_states[:, -1]
    state_decay_out = torch.exp(A_cumsum)
    Y_off = torch.einsum("bclhn,bchpn,bhcl->bclhp", C, states, state_decay_out)
    return rearrange(Y_diag + Y_off, "b c l h p -> b (c l) h p"), final_state


def left(x, dt, A_log, B, C, D):
    """x: b t h p, dt: b t h (before softplus), A_log: h, B, C: b t h n"""
    dt = F.softplus(dt)
    A = -torch.exp(A_log)
    state = x.new_zeros(x.shape[0], x.shape[2], x.shape[3], B.shape[-1])
    ys = []
    for t in range(x.shape[1]):
        dA = torch.exp(dt[:, t] * A)
        dBx = torch.einsum("bh,bhn,bhp->bhpn", dt[:, t], B[:, t], x[:, t])
        state = state * dA[..., None, None] + dBx
        ys.append(torch.einsum("bhpn,bhn->bhp", state, C[:, t]) + D[:, None] * x[:, t])
    return torch.stack(ys, dim=1), state


def right(x, dt, A_log, B, C, D):
    dt = F.softplus(dt)
    A = -torch.exp(A_log)
    y, state = ssd_minimal_discrete(x * dt.unsqueeze(-1), A * dt, B, C, block_len=4)
    return y + x * D.unsqueeze(-1), state


def inputs():
    b, t, h, p, n = 2, 8, 2, 4, 3
    return dict(
        x=torch.randn(b, t, h, p), dt=torch.randn(b, t, h) - 1.0, A_log=torch.rand(h),
        B=torch.randn(b, t, h, n), C=torch.randn(b, t, h, n), D=torch.randn(h),
    )
