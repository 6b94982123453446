import torch
import triton
import triton.language as tl


@triton.jit
def group_norm_kernel(
    X, Y, W, B, Mean, Rstd,
    group_size, C, HW, num_groups, eps,
    BLOCK_GROUP_SIZE: tl.constexpr, BLOCK_HW_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    group = pid % num_groups
    num_elements = group_size * HW

    group_offset = tl.arange(0, BLOCK_GROUP_SIZE)
    hw_offset = tl.arange(0, BLOCK_HW_SIZE)
    wb_offset = group * group_size + group_offset
    wb_mask = group_offset < group_size

    xy_offset = pid * num_elements + group_offset[:, None] * HW + hw_offset[None, :]
    xy_mask = wb_mask[:, None] & (hw_offset[None, :] < HW)

    X_val = tl.load(X + xy_offset, mask=xy_mask, other=0.0).to(tl.float32)
    mean = tl.sum(X_val) / num_elements
    x = tl.where(xy_mask, X_val - mean, 0.0)
    var = tl.sum(x * x) / num_elements
    rstd = 1.0 / tl.sqrt(var + eps)
    x_hat = x * rstd

    weight = tl.load(W + wb_offset, mask=wb_mask, other=0.0)[:, None]
    bias = tl.load(B + wb_offset, mask=wb_mask, other=0.0)[:, None]
    tl.store(Y + xy_offset, x_hat * weight + bias, mask=xy_mask)
    tl.store(Mean + pid, mean)
    tl.store(Rstd + pid, rstd)


def group_norm(input, weight, bias, num_groups, eps=1e-5):
    N, C, HW = input.shape
    group_size = C // num_groups
    y = torch.empty_like(input)
    mean = torch.empty((N, num_groups), dtype=input.dtype)
    rstd = torch.empty((N, num_groups), dtype=input.dtype)
    group_norm_kernel[(N * num_groups,)](
        input, y, weight, bias, mean, rstd, group_size, C, HW, num_groups, eps,
        BLOCK_GROUP_SIZE=triton.next_power_of_2(group_size), BLOCK_HW_SIZE=triton.next_power_of_2(HW))
    return y, mean, rstd


def launch(N=2, groups=3, per_group=5, HW=12):
    input = torch.randn(N, groups * per_group, HW)
    weight = torch.randn(groups * per_group)
    bias = torch.randn(groups * per_group)
    probe = torch.arange(groups)
    return group_norm(input, weight, bias, groups)


def reference(input, weight, bias, probe):
    N, C, HW = input.shape
    G = probe.shape[0]
    x = input.reshape(N, G, C // G * HW)
    mean = x.mean(-1)
    rstd = torch.rsqrt(x.var(-1, unbiased=False) + 1e-5)
    y = ((x - mean[..., None]) * rstd[..., None]).reshape(N, C, HW)
    return y * weight[None, :, None] + bias[None, :, None], mean, rstd


TRUTH = "verified"
