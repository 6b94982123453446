"""Per-token-group fp8 quantisation (groups of 32 along the row), scale absmax / 448 written column-major as the fp8 gemm wants it."""
import torch
import triton
import triton.language as tl


@triton.jit
def _per_token_group_quant_fp8(
    y_ptr, yq_ptr, ys_ptr,
    group_size, y_num_columns, ys_col_stride,
    eps, fp8_min, fp8_max,
    BLOCK: tl.constexpr,
):
    groups_per_row = y_num_columns // group_size
    g_id = tl.program_id(0).to(tl.int64)
    row = g_id // groups_per_row
    row_g = g_id % groups_per_row
    y_off = row * y_num_columns + row_g * group_size
    cols = tl.arange(0, BLOCK)
    mask = cols < group_size
    y = tl.load(y_ptr + y_off + cols, mask=mask, other=0.0).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(y)), eps)
    scale = absmax / fp8_max
    q = tl.clamp(y / scale, fp8_min, fp8_max).to(yq_ptr.dtype.element_ty)
    tl.store(yq_ptr + y_off + cols, q, mask=mask)
    tl.store(ys_ptr + row_g * ys_col_stride + row, scale)


def launch(tokens=6, groups=3):
    group_size = 32
    x = torch.randn(tokens, groups * group_size, device="cuda", dtype=torch.bfloat16)
    x_q = torch.empty(tokens, groups * group_size, device="cuda", dtype=torch.float8_e4m3fn)
    x_s = torch.empty(groups, tokens, device="cuda", dtype=torch.float32)
    _per_token_group_quant_fp8[(tokens * groups,)](
        x, x_q, x_s, group_size, x.shape[1], x_s.stride(0),
        1e-10, -448.0, 448.0, BLOCK=triton.next_power_of_2(group_size), num_warps=1,
    )
    return x_q, x_s


def reference(x):
    tokens = x.shape[0]
    y = x.float().view(tokens, -1, 32)
    scale = y.abs().amax(-1).clamp(min=1e-10) / 448.0
    q = (y / scale[..., None]).clamp(-448.0, 448.0)
    return q.reshape(tokens, -1).to(torch.float8_e4m3fn), scale.t()

TRUTH = "verified"
