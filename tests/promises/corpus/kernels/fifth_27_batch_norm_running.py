"""Batch norm in training with a fused ReLU, a channel per program, which moves the running statistics in place."""
import torch
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def batch_norm_train_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, running_mean_ptr, running_var_ptr, batch, spatial,
    s_b, s_c, s_s, o_b, o_c, o_s, momentum, eps, BLOCK_B: tl.constexpr, BLOCK_S: tl.constexpr,
):
    c = tl.program_id(0)
    rows = tl.arange(0, BLOCK_B)
    count = batch * spatial
    total = 0.0
    for start in range(0, spatial, BLOCK_S):
        cols = start + tl.arange(0, BLOCK_S)
        mask = (rows < batch)[:, None] & (cols < spatial)[None, :]
        x = tl.load(x_ptr + rows[:, None] * s_b + c * s_c + cols[None, :] * s_s, mask=mask, other=0.0)
        total += tl.sum(x)
    mean = total / count
    square = 0.0
    for start in range(0, spatial, BLOCK_S):
        cols = start + tl.arange(0, BLOCK_S)
        mask = (rows < batch)[:, None] & (cols < spatial)[None, :]
        x = tl.load(x_ptr + rows[:, None] * s_b + c * s_c + cols[None, :] * s_s, mask=mask, other=0.0)
        diff = tl.where(mask, x - mean, 0.0)
        square += tl.sum(diff * diff)
    var = square / count
    inv_std = tl.rsqrt(var + eps)
    running_mean = tl.load(running_mean_ptr + c)
    running_var = tl.load(running_var_ptr + c)
    tl.store(running_mean_ptr + c, (1 - momentum) * running_mean + momentum * mean)
    tl.store(running_var_ptr + c, (1 - momentum) * running_var + momentum * var)
    w = tl.load(w_ptr + c)
    b = tl.load(b_ptr + c)
    for start in range(0, spatial, BLOCK_S):
        cols = start + tl.arange(0, BLOCK_S)
        mask = (rows < batch)[:, None] & (cols < spatial)[None, :]
        x = tl.load(x_ptr + rows[:, None] * s_b + c * s_c + cols[None, :] * s_s, mask=mask, other=0.0)
        y = tl.maximum(w * (x - mean) * inv_std + b, 0.0)
        tl.store(y_ptr + rows[:, None] * o_b + c * o_c + cols[None, :] * o_s, y, mask=mask)


def launch():
    batch, channels, spatial = 3, 7, 10
    x = torch.randn(batch, channels, spatial) * 2
    weight = torch.randn(channels)
    bias = torch.randn(channels)
    running_mean = torch.randn(channels)
    running_var = torch.rand(channels) + 0.5
    y = torch.empty_like(x)
    batch_norm_train_kernel[(channels,)](
        x, weight, bias, y, running_mean, running_var, batch, spatial, *x.stride(), *y.stride(), 0.1, 1e-5,
        BLOCK_B=triton.next_power_of_2(batch), BLOCK_S=8,
    )
    return y, running_mean, running_var


def reference(x, weight, bias, running_mean, running_var):
    var, mean = torch.var_mean(x, dim=(0, 2), correction=0)
    unbiased = torch.var(x, dim=(0, 2), correction=1)
    y = (x - mean[:, None]) * torch.rsqrt(var[:, None] + 1e-5) * weight[:, None] + bias[:, None]
    return torch.relu(y), 0.9 * running_mean + 0.1 * mean, 0.9 * running_var + 0.1 * unbiased
