"""Per-token-group quantisation to float8 e4m3 with column-major scales, as in vLLM's block-scaled GEMMs."""
import torch
import triton
import triton.language as tl


@triton.jit
def group_quant_kernel(x_ptr, q_ptr, s_ptr, x_row, q_row, s_row, s_col, eps, FP8_MAX: tl.constexpr, GROUP: tl.constexpr):
    row = tl.program_id(0)
    g = tl.program_id(1)
    cols = g * GROUP + tl.arange(0, GROUP)
    x = tl.load(x_ptr + row * x_row + cols).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(x)), eps)
    scale = absmax / FP8_MAX
    q = tl.minimum(tl.maximum(x / scale, -FP8_MAX), FP8_MAX)
    tl.store(q_ptr + row * q_row + cols, q.to(q_ptr.dtype.element_ty))
    tl.store(s_ptr + row * s_row + g * s_col, scale)


def launch(tokens=7, groups=5):
    x = torch.randn(tokens, 32 * groups)
    q = torch.empty(tokens, 32 * groups, dtype=torch.float8_e4m3fn)
    scales = torch.empty(groups, tokens).t()
    group_quant_kernel[(tokens, groups)](
        x, q, scales, x.stride(0), q.stride(0), scales.stride(0), scales.stride(1), 1e-10, FP8_MAX=448.0, GROUP=32
    )
    return q, scales


def reference(x):
    tokens = x.shape[0]
    g = x.view(tokens, -1, 32)
    scales = g.abs().amax(-1).clamp(min=1e-10) / 448.0
    q = (g / scales[..., None]).clamp(-448.0, 448.0).view(tokens, -1)
    return q.to(torch.float8_e4m3fn), scales
TRUTH = "verified"
