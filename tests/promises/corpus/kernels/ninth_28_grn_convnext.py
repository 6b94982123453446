"""ConvNeXt V2's global response normalisation, channels last."""
import torch
import triton
import triton.language as tl


@triton.jit
def grn_norm_kernel(x_ptr, gx_ptr, HW, C, BLOCK_C: tl.constexpr, BLOCK_S: tl.constexpr):
    b = tl.program_id(0)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    c_mask = c < C
    acc = tl.zeros((BLOCK_S, BLOCK_C), dtype=tl.float32)
    for s0 in range(0, HW, BLOCK_S):
        s = s0 + tl.arange(0, BLOCK_S)
        x = tl.load(
            x_ptr + (b * HW + s[:, None]) * C + c[None, :],
            mask=(s[:, None] < HW) & c_mask[None, :], other=0.0,
        )
        acc += x * x
    tl.store(gx_ptr + b * C + c, tl.sqrt(tl.sum(acc, axis=0)), mask=c_mask)


@triton.jit
def grn_apply_kernel(
    x_ptr, gx_ptr, mean_ptr, gamma_ptr, beta_ptr, out_ptr, HW, C, eps, BLOCK_C: tl.constexpr
):
    row = tl.program_id(0)
    b = row // HW
    for c0 in range(0, C, BLOCK_C):
        c = c0 + tl.arange(0, BLOCK_C)
        mask = c < C
        x = tl.load(x_ptr + row * C + c, mask=mask)
        gx = tl.load(gx_ptr + b * C + c, mask=mask)
        mean = tl.load(mean_ptr + c, mask=mask)
        gamma = tl.load(gamma_ptr + c, mask=mask)
        beta = tl.load(beta_ptr + c, mask=mask)
        nx = gx / (mean + eps)
        tl.store(out_ptr + row * C + c, gamma * (x * nx) + beta + x, mask=mask)


def launch(B=3, H=5, W=7, C=37):
    x = torch.randn(B, H, W, C, device="cuda")
    gamma = torch.randn(C, device="cuda")
    beta = torch.randn(C, device="cuda")
    gx = torch.empty(B, C, device="cuda")
    out = torch.empty_like(x)
    HW = H * W
    grn_norm_kernel[(B, triton.cdiv(C, 32))](x, gx, HW, C, BLOCK_C=32, BLOCK_S=8)
    mean = gx.mean(dim=0)
    grn_apply_kernel[(B * HW,)](x, gx, mean, gamma, beta, out, HW, C, 1e-6, BLOCK_C=32)
    return out


def reference(x, gamma, beta):
    gx = torch.linalg.vector_norm(x, dim=(1, 2), keepdim=True)
    nx = gx / (gx.mean(dim=-1, keepdim=True) + 1e-6)
    return gamma * (x * nx) + beta + x


TRUTH = "broken"
# WHY: the mean of the norms is taken over the batch (dim=0) and read by channel; GRN takes it over the channels, for each image.
