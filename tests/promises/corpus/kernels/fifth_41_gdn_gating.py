"""Gates of a gated delta net from the two halves of one projection: log-decay and beta."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def fused_gdn_gating_kernel(
    g,
    beta_output,
    A_log,
    a,
    b,
    dt_bias,
    stride_a,
    stride_b,
    NUM_HEADS: tl.constexpr,
    beta: tl.constexpr,
    threshold: tl.constexpr,
    BLK_HEADS: tl.constexpr,
):
    i_b, i_d = tl.program_id(0), tl.program_id(1)
    head_off = i_d * BLK_HEADS + tl.arange(0, BLK_HEADS)
    mask = head_off < NUM_HEADS
    blk_A_log = tl.load(A_log + head_off, mask=mask)
    blk_a = tl.load(a + i_b * stride_a + head_off, mask=mask)
    blk_b = tl.load(b + i_b * stride_b + head_off, mask=mask)
    blk_bias = tl.load(dt_bias + head_off, mask=mask)
    x = blk_a.to(tl.float32) + blk_bias.to(tl.float32)
    softplus_x = tl.where(beta * x <= threshold, (1 / beta) * tl.log(1 + tl.exp(beta * x)), x)
    blk_g = -tl.exp(blk_A_log.to(tl.float32)) * softplus_x
    off = i_b * NUM_HEADS + head_off
    tl.store(g + off, blk_g, mask=mask)
    tl.store(beta_output + off, tl.sigmoid(blk_b.to(tl.float32)), mask=mask)


def fused_gdn_gating(A_log, a, b, dt_bias):
    tokens, num_heads = a.shape
    g = torch.empty(tokens, num_heads)
    beta_output = torch.empty(tokens, num_heads)
    fused_gdn_gating_kernel[(tokens, triton.cdiv(num_heads, 8))](
        g, beta_output, A_log, a, b, dt_bias, a.stride(0), b.stride(0), num_heads, 1.0, 20.0, 8
    )
    return g, beta_output


def launch():
    tokens, heads = 17, 12
    A_log = torch.log(1 + 15 * torch.rand(heads))
    dt_bias = torch.randn(heads)
    ba = torch.randn(tokens, 2 * heads)
    b, a = ba.split([heads, heads], dim=-1)
    return fused_gdn_gating(A_log, a, b, dt_bias)


def reference(A_log, a, b, dt_bias):
    g = -torch.exp(A_log) * torch.nn.functional.softplus(a + dt_bias)
    return g, torch.sigmoid(b)
