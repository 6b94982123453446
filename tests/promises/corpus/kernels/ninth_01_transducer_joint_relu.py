"""RNN-T joint, as in apex.contrib.transducer: every frame of the encoder meets every label of the predictor."""
import torch
import triton
import triton.language as tl


@triton.jit
def transducer_joint_fwd_kernel(
    f_ptr, g_ptr, out_ptr,
    stride_fb, stride_ft,
    stride_gb, stride_gu,
    stride_ob, stride_ot, stride_ou,
    T, H,
    BLOCK_H: tl.constexpr,
):
    pid_bt = tl.program_id(0)
    pid_u = tl.program_id(1)
    b = pid_bt // T
    t = pid_bt % T

    f_row = f_ptr + b * stride_fb + t * stride_ft
    g_row = g_ptr + b * stride_gb + pid_u * stride_gu
    o_row = out_ptr + b * stride_ob + t * stride_ot + pid_u * stride_ou

    for start in range(0, H, BLOCK_H):
        offs = start + tl.arange(0, BLOCK_H)
        mask = offs < H
        f = tl.load(f_row + offs, mask=mask, other=0.0)
        g = tl.load(g_row + offs, mask=mask, other=0.0)
        s = f + g
        tl.store(o_row + offs, tl.where(s > 0, s, 0.0), mask=mask)


def launch(batch=3, frames=5, labels=7, hidden=37):
    f = torch.randn(batch, frames, hidden, device="cuda")
    g = torch.randn(batch, labels, hidden, device="cuda")
    out = torch.empty(batch, frames, labels, hidden, device="cuda")
    transducer_joint_fwd_kernel[(batch * frames, labels)](
        f, g, out,
        f.stride(0), f.stride(1),
        g.stride(0), g.stride(1),
        out.stride(0), out.stride(1), out.stride(2),
        frames, hidden,
        BLOCK_H=32,
    )
    return out


def reference(f, g):
    return torch.relu(f[:, :, None, :] + g[:, None, :, :])


TRUTH = "verified"
