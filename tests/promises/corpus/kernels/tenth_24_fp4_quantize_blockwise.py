"""bitsandbytes' blockwise FP4 quantisation: the absolute maximum of each block, a tree of thresholds for the three bits
of the magnitude, the sign in the fourth, two codes in a byte."""
import torch
import triton
import triton.language as tl


@triton.jit
def quantize_fp4_blockwise_kernel(
    A_ptr, absmax_ptr, out_ptr, n_elements,
    BLOCK_SIZE: tl.constexpr,
):
    PAIRED: tl.constexpr = BLOCK_SIZE // 2
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    A = tl.load(A_ptr + offsets, mask=mask, other=0.0)

    absmax = tl.max(tl.abs(A), axis=0)
    tl.store(absmax_ptr + pid, absmax)

    A_normalized = A / tl.maximum(absmax, 1e-8)
    sign = tl.where(A_normalized < 0, 0b1000, 0b0000)
    A_absf = tl.abs(A_normalized)
    result = tl.where(
        A_absf > 0.29166667,
        tl.where(
            A_absf > 0.583333,
            tl.where(A_absf > 0.8333333, 0b011, 0b010),
            tl.where(A_absf > 0.4166667, 0b101, 0b100),
        ),
        tl.where(
            A_absf > 0.0859375,
            tl.where(A_absf > 0.20833333, 0b0111, 0b0110),
            tl.where(A_absf > 0.00260417, 0b0001, 0b0000),
        ),
    )
    quantized = (result ^ sign).to(tl.uint8)

    left, right = tl.split(tl.reshape(quantized, (PAIRED, 2)))
    packed = left << 4 | (right & 0xF)
    out_offsets = pid * PAIRED + tl.arange(0, PAIRED)
    tl.store(out_ptr + out_offsets, packed, mask=out_offsets < n_elements // 2)


def launch(n=330):
    A = torch.randn(n, device="cuda")
    blocks = triton.cdiv(n, 64)
    absmax = torch.empty(blocks, device="cuda", dtype=torch.float32)
    out = torch.empty(n // 2, device="cuda", dtype=torch.uint8)
    quantize_fp4_blockwise_kernel[(blocks,)](A, absmax, out, n, BLOCK_SIZE=64)
    return out, absmax


launch.assume = ["n % 2 == 0"]


def reference(A):
    n = A.shape[0]
    padded = torch.nn.functional.pad(A, (0, -n % 64)).view(-1, 64)
    absmax = padded.abs().amax(dim=1)
    x = (padded / absmax.clamp(min=1e-8)[:, None]).reshape(-1)[:n]
    bounds = torch.tensor(
        [0.00260417, 0.0859375, 0.20833333, 0.29166667, 0.4166667, 0.583333, 0.8333333], device=A.device, dtype=A.dtype,
    )
    codes = torch.tensor([0, 1, 6, 7, 4, 5, 2, 3], device=A.device)
    level = (x.abs()[:, None] > bounds).sum(1)
    q = codes[level] + 8 * (x < 0)
    return (q[0::2] * 16 + q[1::2]).to(torch.uint8), absmax


TRUTH = "verified"
