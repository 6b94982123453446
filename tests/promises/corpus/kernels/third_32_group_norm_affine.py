import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "different"


@triton.jit
def group_norm_kernel(X, Y, W, B, group_size, C, HW, num_groups, eps, BLOCK_GROUP: tl.constexpr, BLOCK_HW: tl.constexpr):
    pid = tl.program_id(0)
    group = pid % num_groups
    ch = tl.arange(0, BLOCK_GROUP)
    hw = tl.arange(0, BLOCK_HW)
    n_elem = group_size * HW
    mask = (ch[:, None] < group_size) & (hw[None, :] < HW)
    offs = pid * n_elem + ch[:, None] * HW + hw[None, :]
    x = tl.load(X + offs, mask=mask, other=0.0)
    mean = tl.sum(x) / n_elem
    xc = tl.where(mask, x - mean, 0.0)
    rstd = 1.0 / tl.sqrt(tl.sum(xc * xc) / n_elem + eps)
    w = tl.load(W + group)
    b = tl.load(B + group)
    tl.store(Y + offs, xc * rstd * w + b, mask=mask)


def launch(x, weight, bias, num_groups=3):
    N, C, H, Wd = x.shape
    y = torch.empty_like(x)
    gs = C // num_groups
    group_norm_kernel[(N * num_groups,)](x, y, weight, bias, gs, C, H * Wd, num_groups, 1e-5,
                                         BLOCK_GROUP=triton.next_power_of_2(gs),
                                         BLOCK_HW=triton.next_power_of_2(H * Wd))
    return y


def reference(x, weight, bias, num_groups=3):
    return F.group_norm(x, num_groups, weight, bias, eps=1e-5)


def inputs(N=2, C=6, H=5, W=7):
    return torch.randn(N, C, H, W), torch.randn(C), torch.randn(C)
