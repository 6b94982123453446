"""AWQ 4-bit weights to floating point. Eight nibbles of an int32 hold columns 0 2 4 6 1 3 5 7."""
import torch
import triton
import triton.language as tl


@triton.jit
def awq_dequantize_kernel(
    qweight_ptr, scales_ptr, zeros_ptr, result_ptr,
    group_size,
    num_cols,  # packed columns
    num_rows,
    BLOCK_SIZE_X: tl.constexpr,
    BLOCK_SIZE_Y: tl.constexpr,
):
    pid_x = tl.program_id(axis=0)
    pid_y = tl.program_id(axis=1)

    rows = pid_y * BLOCK_SIZE_Y + tl.arange(0, BLOCK_SIZE_Y)
    out_cols = pid_x * BLOCK_SIZE_X * 8 + tl.arange(0, BLOCK_SIZE_X * 8)
    packed_cols = out_cols // 8
    which = out_cols % 8
    # 0 1 2 3 4 5 6 7 -> nibble 0 4 1 5 2 6 3 7
    shifts = ((which // 2) + (which % 2) * 4) * 4

    mask = (rows < num_rows)[:, None] & (packed_cols < num_cols)[None, :]
    iweights = tl.load(qweight_ptr + rows[:, None] * num_cols + packed_cols[None, :], mask=mask, other=0)
    iweights = (iweights >> shifts[None, :]) & 0xF

    groups = rows // group_size
    zeros = tl.load(zeros_ptr + groups[:, None] * num_cols + packed_cols[None, :], mask=mask, other=0)
    zeros = (zeros >> shifts[None, :]) & 0xF
    scales = tl.load(scales_ptr + groups[:, None] * num_cols * 8 + out_cols[None, :], mask=mask, other=0.0)

    w = (iweights - zeros).to(tl.float32) * scales
    tl.store(result_ptr + rows[:, None] * num_cols * 8 + out_cols[None, :], w, mask=mask)


def launch(groups=3, packed=5):
    group_size = 32
    K = groups * group_size
    qweight = torch.randint(-(2**31), 2**31 - 1, (K, packed), dtype=torch.int32, device="cuda")
    qzeros = torch.randint(-(2**31), 2**31 - 1, (groups, packed), dtype=torch.int32, device="cuda")
    scales = torch.randn(groups, packed * 8, device="cuda")
    weight = torch.empty(K, packed * 8, device="cuda")
    grid = lambda META: (triton.cdiv(packed, META["BLOCK_SIZE_X"]), triton.cdiv(K, META["BLOCK_SIZE_Y"]))
    awq_dequantize_kernel[grid](
        qweight, scales, qzeros, weight, group_size, packed, K, BLOCK_SIZE_X=4, BLOCK_SIZE_Y=16
    )
    return weight


def reference(qweight, qzeros, scales):
    order = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7], device=qweight.device)

    def unpack(q):
        return ((q.unsqueeze(-1) >> (4 * order)) & 0xF).flatten(1)

    w, z = unpack(qweight), unpack(qzeros)
    z, s = z.repeat_interleave(32, dim=0), scales.repeat_interleave(32, dim=0)
    return (w - z) * s


TRUTH = "verified"
