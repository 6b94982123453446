"""Bias, dropout with a given keep mask, residual and layer norm in one row tile; mean and variance are taken over the masked columns only."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def dropout_add_layernorm_kernel(
    x_ptr, bias_ptr, keep_ptr, res_ptr, gamma_ptr, beta_ptr, hidden_ptr, y_ptr,
    stride, n_cols, p, eps, BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    offs = row * stride + cols
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    x += tl.load(bias_ptr + cols, mask=mask, other=0.0)
    keep = tl.load(keep_ptr + offs, mask=mask, other=0)
    dropped = tl.where(keep != 0, x / (1.0 - p), 0.0)
    h = dropped + tl.load(res_ptr + offs, mask=mask, other=0.0)
    tl.store(hidden_ptr + offs, h, mask=mask)

    mean = tl.sum(h, axis=0) / n_cols
    centered = tl.where(mask, h - mean, 0.0)
    var = tl.sum(centered * centered, axis=0) / n_cols
    rstd = tl.rsqrt(var + eps)
    gamma = tl.load(gamma_ptr + cols, mask=mask)
    beta = tl.load(beta_ptr + cols, mask=mask)
    tl.store(y_ptr + offs, centered * rstd * gamma + beta, mask=mask)


def launch(rows=6, cols=100):
    x = torch.randn(rows, cols, device="cuda")
    bias = torch.randn(cols, device="cuda")
    keep = torch.randint(0, 2, (rows, cols), device="cuda", dtype=torch.int8)
    residual = torch.randn(rows, cols, device="cuda")
    gamma = torch.randn(cols, device="cuda")
    beta = torch.randn(cols, device="cuda")
    hidden = torch.empty_like(x)
    y = torch.empty_like(x)
    dropout_add_layernorm_kernel[(rows,)](
        x, bias, keep, residual, gamma, beta, hidden, y,
        x.stride(0), cols, 0.1, 1e-5, BLOCK=triton.next_power_of_2(cols),
    )
    return y, hidden


def reference(x, bias, keep, residual, gamma, beta):
    h = residual + torch.where(keep != 0, (x + bias) / (1 - 0.1), 0.0)
    return F.layer_norm(h, (h.shape[-1],), gamma, beta, 1e-5), h


TRUTH = "verified"
