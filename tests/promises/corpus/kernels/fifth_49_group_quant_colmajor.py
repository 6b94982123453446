"""Int8 quantisation by groups of 64 columns, with the scales stored column by column."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def _per_token_group_quant_int8_colmajor(
    y_ptr, y_q_ptr, y_s_ptr, group_size, y_num_columns, y_row_stride, y_s_col_stride, eps,
    int8_min, int8_max, BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    group = tl.program_id(1)
    cols = tl.arange(0, BLOCK)
    at = group * group_size + cols
    mask = (cols < group_size) & (at < y_num_columns)
    y = tl.load(y_ptr + row * y_row_stride + at, mask=mask, other=0.0).to(tl.float32)
    absmax = tl.maximum(tl.max(tl.abs(y)), eps)
    y_s = absmax / int8_max
    y_q = tl.clamp(y / y_s, int8_min, int8_max).to(y_q_ptr.dtype.element_ty)
    tl.store(y_q_ptr + row * y_row_stride + at, y_q, mask=mask)
    tl.store(y_s_ptr + group * y_s_col_stride + row, y_s)


def launch():
    tokens, width, group_size = 12, 200, 64
    x = torch.randn(tokens, width)
    x_q = torch.empty(tokens, width, dtype=torch.int8)
    x_s = torch.empty(triton.cdiv(width, group_size), tokens)
    _per_token_group_quant_int8_colmajor[(tokens, width // group_size)](
        x, x_q, x_s, group_size, width, x.stride(0), x_s.stride(0), 1e-10, -128.0, 127.0, BLOCK=64
    )
    return x_q, x_s


def reference(x):
    tokens, width = x.shape
    groups = (width + 63) // 64
    padded = torch.nn.functional.pad(x, (0, groups * 64 - width)).view(tokens, groups, 64)
    scale = padded.abs().amax(-1).clamp(min=1e-10) / 127.0
    q = (padded / scale[:, :, None]).clamp(-128, 127).to(torch.int8)
    return q.view(tokens, groups * 64)[:, :width], scale.transpose(0, 1)
