"""Inductor-like horizontally fused foreach kernel: one launch moves three averages towards their parameters."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def triton_for_fused_lerp(ema_ptr0, p_ptr0, ema_ptr1, p_ptr1, ema_ptr2, p_ptr2, n0, n1, n2, blocks0, blocks1, rate,
                          XBLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid < blocks0:
        xindex = pid * XBLOCK + tl.arange(0, XBLOCK)
        xmask = xindex < n0
        tmp0 = tl.load(ema_ptr0 + xindex, xmask)
        tmp1 = tl.load(p_ptr0 + xindex, xmask)
        tl.store(ema_ptr0 + xindex, tmp0 + rate * (tmp1 - tmp0), xmask)
    elif pid < blocks0 + blocks1:
        xindex = (pid - blocks0) * XBLOCK + tl.arange(0, XBLOCK)
        xmask = xindex < n1
        tmp2 = tl.load(ema_ptr1 + xindex, xmask)
        tmp3 = tl.load(p_ptr1 + xindex, xmask)
        tl.store(ema_ptr1 + xindex, tmp2 + rate * (tmp3 - tmp2), xmask)
    else:
        xindex = (pid - blocks0 - blocks1) * XBLOCK + tl.arange(0, XBLOCK)
        xmask = xindex < n2
        tmp4 = tl.load(ema_ptr2 + xindex, xmask)
        tmp5 = tl.load(p_ptr2 + xindex, xmask)
        tl.store(ema_ptr2 + xindex, tmp4 + rate * (tmp5 - tmp4), xmask)


def launch():
    weight = torch.randn(70, 45)
    bias = torch.randn(70)
    table = torch.randn(33, 50)
    ema_weight, ema_bias, ema_table = torch.randn(70, 45), torch.randn(70), torch.randn(33, 50)
    blocks = [triton.cdiv(t.numel(), 256) for t in (ema_weight, ema_bias, ema_table)]
    triton_for_fused_lerp[(sum(blocks),)](
        ema_weight, weight, ema_bias, bias, ema_table, table,
        weight.numel(), bias.numel(), table.numel(), blocks[0], blocks[1], 0.05, XBLOCK=256)
    return ema_weight, ema_bias, ema_table


def reference(ema_weight, ema_bias, ema_table, weight, bias, table):
    return torch.lerp(ema_weight, weight, 0.05), torch.lerp(ema_bias, bias, 0.05), torch.lerp(ema_table, table, 0.05)
