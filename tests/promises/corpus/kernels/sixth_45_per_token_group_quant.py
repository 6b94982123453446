import torch
import triton
import triton.language as tl


@triton.jit
def _per_token_group_quant_int8(
    y_ptr,
    y_q_ptr,
    y_s_ptr,
    y_stride,
    N,
    eps,
    int8_min,
    int8_max,
    BLOCK: tl.constexpr,
):
    """One program quantizes one group of N values of a row."""
    g_id = tl.program_id(0)
    y_ptr += g_id * y_stride
    y_q_ptr += g_id * y_stride
    y_s_ptr += g_id

    cols = tl.arange(0, BLOCK)
    mask = cols < N
    y = tl.load(y_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    _absmax = tl.maximum(tl.max(tl.abs(y)), eps)
    y_s = _absmax / int8_max
    y_q = tl.clamp(y / y_s, int8_min, int8_max).to(y_q_ptr.dtype.element_ty)

    tl.store(y_q_ptr + cols, y_q, mask=mask)
    tl.store(y_s_ptr, y_s)


def per_token_group_quant_int8(x, group_size, eps=1e-10):
    assert x.shape[-1] % group_size == 0
    assert x.is_contiguous()
    iinfo = torch.iinfo(torch.int8)
    x_q = torch.empty_like(x, dtype=torch.int8)
    x_s = torch.empty(x.shape[:-1] + (x.shape[-1] // group_size,), dtype=torch.float32)
    M = x.numel() // group_size
    _per_token_group_quant_int8[(M,)](
        x, x_q, x_s, group_size, group_size, eps,
        iinfo.min, iinfo.max,
        BLOCK=triton.next_power_of_2(group_size),
    )
    return x_q, x_s


def launch(tokens=6, groups=3):
    x = torch.randn(tokens, groups * 32)
    return per_token_group_quant_int8(x, 32)


def reference(x):
    tokens = x.shape[0]
    grouped = x.reshape(tokens, x.shape[1] // 32, 32)
    scale = grouped.abs().amax(dim=-1).clamp(min=1e-10) / 127
    q = (grouped / scale.unsqueeze(-1)).clamp(-128, 127).to(torch.int8)
    return q.reshape(x.shape), scale


TRUTH = "verified"
