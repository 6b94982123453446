import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _rms_norm_fwd(Y, X, W, y_row_stride, x_row_stride, n_cols, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(X + row * x_row_stride + cols, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32)
    mean_sq = tl.sum(x * x, axis=0) / n_cols
    rstd = 1.0 / tl.sqrt(mean_sq + eps)
    tl.store(Y + row * y_row_stride + cols, x * rstd * w, mask=mask)


def launch(x, weight):
    x = x.contiguous()
    n_rows, n_cols = x.shape
    y = torch.empty_like(x)
    _rms_norm_fwd[(n_rows,)](y, x, weight, y.stride(0), x.stride(0), n_cols, 1e-6,
                             BLOCK_SIZE=triton.next_power_of_2(n_cols))
    return y


def reference(x, weight):
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), weight, eps=1e-6)


def inputs(rows=7, cols=100):
    return torch.randn(rows, cols).half(), torch.randn(cols).half()
