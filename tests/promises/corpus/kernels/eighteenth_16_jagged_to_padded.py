"""Packed variable-length rows to a padded batch (as fbgemm's jagged_to_padded_dense): longer sequences are cut, shorter ones are filled up."""
import torch
import triton
import triton.language as tl


@triton.jit
def jagged_to_padded_kernel(
    values_ptr, offsets_ptr, out_ptr,
    max_len, D, padding_value,
    stride_vt, stride_ob, stride_ot,
    BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr,
):
    b = tl.program_id(0)
    offs_t = tl.program_id(1) * BLOCK_T + tl.arange(0, BLOCK_T)
    begin = tl.load(offsets_ptr + b)
    end = tl.load(offsets_ptr + b + 1)
    length = tl.minimum(end - begin, max_len)

    for d0 in range(0, D, BLOCK_D):
        offs_d = d0 + tl.arange(0, BLOCK_D)
        d_mask = offs_d[None, :] < D
        x = tl.load(
            values_ptr + (begin + offs_t)[:, None] * stride_vt + offs_d[None, :],
            mask=(offs_t[:, None] < length) & d_mask, other=padding_value,
        )
        tl.store(
            out_ptr + b * stride_ob + offs_t[:, None] * stride_ot + offs_d[None, :],
            x, mask=(offs_t[:, None] < max_len) & d_mask,
        )


def launch(B=4, total=30, max_len=10, D=24):
    values = torch.randn(total, D, device="cuda")
    cuts = torch.sort(torch.randint(0, total + 1, (B - 1,), device="cuda")).values
    ends = torch.tensor([0, total], device="cuda")
    offsets = torch.cat([ends[:1], cuts, ends[1:]])
    out = torch.empty(B, max_len, D, device="cuda")
    grid = lambda meta: (B, triton.cdiv(max_len, meta["BLOCK_T"]))
    jagged_to_padded_kernel[grid](
        values, offsets, out,
        max_len, D, -1.0,
        values.stride(0), out.stride(0), out.stride(1),
        BLOCK_T=8, BLOCK_D=16,
    )
    return out


def reference(values, offsets, max_len):
    index = offsets[:-1, None] + torch.arange(max_len, device=values.device)[None, :]
    valid = index < offsets[1:, None]
    rows = values[index.clamp(max=values.shape[0] - 1)]
    return torch.where(valid[:, :, None], rows, -1.0)

TRUTH = "verified"
