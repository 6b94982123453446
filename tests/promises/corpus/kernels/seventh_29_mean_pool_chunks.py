"""Mean of every chunk of BT positions (the compressed keys of native sparse attention); the last chunk may be short."""
import torch
import triton
import triton.language as tl


@triton.jit
def mean_pooling_fwd_kernel(x, o, T, H, D, NT, BT: tl.constexpr, BD: tl.constexpr):
    i_d, i_t, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_b, i_h = i_bh // H, i_bh % H
    o_t = i_t * BT + tl.arange(0, BT)
    o_d = i_d * BD + tl.arange(0, BD)
    m = (o_t < T)[:, None] & (o_d < D)[None, :]
    b_x = tl.load(x + ((i_b * T + o_t[:, None]) * H + i_h) * D + o_d[None, :], mask=m, other=0.0).to(tl.float32)
    b_o = tl.sum(b_x, axis=0) / BT
    tl.store(o + ((i_b * NT + i_t) * H + i_h) * D + o_d, b_o, mask=o_d < D)


def mean_pooling(x, chunk_size):
    B, T, H, D = x.shape
    NT = triton.cdiv(T, chunk_size)
    o = x.new_empty(B, NT, H, D)
    BD = 16
    mean_pooling_fwd_kernel[(triton.cdiv(D, BD), NT, B * H)](x, o, T, H, D, NT, BT=chunk_size, BD=BD)
    return o


def launch(B=2, T=45, H=2, D=24):
    x = torch.randn(B, T, H, D, device="cuda")
    return mean_pooling(x, 16)


def reference(x):
    B, T, H, D = x.shape
    pad = (-T) % 16
    sums = torch.nn.functional.pad(x, (0, 0, 0, 0, 0, pad)).view(B, -1, 16, H, D).sum(dim=2)
    start = torch.arange(0, T, 16, device=x.device)
    count = (T - start).clamp(max=16)
    return sums / count[None, :, None, None]


# the short last chunk is divided by BT, not by the positions that it has
TRUTH = "broken"
