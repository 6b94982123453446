import torch
import triton
import triton.language as tl


# fbgemm: jagged values (rows of sequences one after the other) to a dense batch, padded or cut at max_len.
@triton.jit
def jagged_to_padded(values_ptr, offsets_ptr, out_ptr, max_len, dim, padding, BL: tl.constexpr, BD: tl.constexpr):
    b = tl.program_id(0)
    l = tl.program_id(1) * BL + tl.arange(0, BL)
    d = tl.arange(0, BD)
    begin = tl.load(offsets_ptr + b)
    end = tl.load(offsets_ptr + b + 1)
    src = begin + l
    inside = (src < end) & (l < max_len)
    tile = tl.load(values_ptr + src[:, None] * dim + d[None, :], mask=inside[:, None] & (d < dim)[None, :], other=padding)
    dst = (b * max_len + l)[:, None] * dim + d[None, :]
    tl.store(out_ptr + dst, tile, mask=(l < max_len)[:, None] & (d < dim)[None, :])


def launch(batch=5, max_len=11, dim=20, total=31):
    values = torch.randn(total, dim, device="cuda")
    offsets = torch.randint(0, total + 1, (batch + 1,), device="cuda").sort().values
    out = torch.empty(batch, max_len, dim, device="cuda")
    grid = (batch, triton.cdiv(max_len, 8))
    jagged_to_padded[grid](values, offsets, out, max_len, dim, -1.0, BL=8, BD=triton.next_power_of_2(dim))
    return out


launch.assume = ["0 <= offsets <= total"]


def reference(values, offsets, max_len):
    rows = offsets[:-1, None] + torch.arange(max_len, device=values.device)
    inside = rows < offsets[1:, None]
    taken = values[rows.clamp(max=values.shape[0] - 1)]
    return torch.where(inside[:, :, None], taken, -1.0)


TRUTH = "verified"
