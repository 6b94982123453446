"""One power iteration of spectral normalisation: v = Wᵀu / |Wᵀu|, u = Wv / |Wv|, and the weight divided by uᵀWv."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def _matvec(w_ptr, v_ptr, out_ptr, n_rows, n_cols, stride_r, stride_c, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    acc = tl.zeros((BLOCK_R,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK_C):
        cols = start + tl.arange(0, BLOCK_C)
        w = tl.load(w_ptr + rows[:, None] * stride_r + cols[None, :] * stride_c,
                    mask=(rows[:, None] < n_rows) & (cols[None, :] < n_cols), other=0.0)
        v = tl.load(v_ptr + cols, mask=cols < n_cols, other=0.0)
        acc += tl.sum(w * v[None, :], axis=1)
    tl.store(out_ptr + rows, acc, mask=rows < n_rows)


@triton.jit
def _normalize(x_ptr, y_ptr, norm_ptr, n, eps, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    norm = tl.sqrt(tl.sum(x * x, axis=0))
    tl.store(y_ptr + i, x / tl.maximum(norm, eps), mask=i < n)
    tl.store(norm_ptr, norm)


@triton.jit
def _scale(w_ptr, s_ptr, out_ptr, numel, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    w = tl.load(w_ptr + i, mask=i < numel)
    tl.store(out_ptr + i, w / tl.load(s_ptr), mask=i < numel)


def launch(out_features=20, in_features=37):
    weight = torch.randn(out_features, in_features, device="cuda")
    u = torch.randn(out_features, device="cuda")

    wtu, v = torch.empty(in_features, device="cuda"), torch.empty(in_features, device="cuda")
    wv, u_new = torch.empty(out_features, device="cuda"), torch.empty(out_features, device="cuda")
    norms = torch.empty(2, device="cuda")
    _matvec[(triton.cdiv(in_features, 16),)](weight, u, wtu, in_features, out_features,
                                             weight.stride(1), weight.stride(0), BLOCK_R=16, BLOCK_C=16)
    _normalize[(1,)](wtu, v, norms, in_features, 1e-12, BLOCK=triton.next_power_of_2(in_features))
    _matvec[(triton.cdiv(out_features, 16),)](weight, v, wv, out_features, in_features,
                                              weight.stride(0), weight.stride(1), BLOCK_R=16, BLOCK_C=16)
    _normalize[(1,)](wv, u_new, norms[1:], out_features, 1e-12, BLOCK=triton.next_power_of_2(out_features))
    # u_new . (W v) = |W v|
    out = torch.empty_like(weight)
    _scale[(triton.cdiv(weight.numel(), 128),)](weight, norms[1:], out, weight.numel(), BLOCK=128)
    return out, u_new, v


def reference(weight, u):
    v = F.normalize(weight.t() @ u, dim=0, eps=1e-12)
    wv = weight @ v
    u_new = F.normalize(wv, dim=0, eps=1e-12)
    return weight / wv.norm(), u_new, v

TRUTH = "verified"
