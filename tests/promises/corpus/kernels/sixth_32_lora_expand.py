import torch
import triton
import triton.language as tl


@triton.jit
def _lora_expand_kernel(
    x_ptr, w_ptr, out_ptr, idx_ptr,
    hidden, rank,
    x_stride,
    w_l_stride, w_h_stride, w_r_stride,
    o_stride,
    slice_offset,
    BLOCK_H: tl.constexpr, BLOCK_R: tl.constexpr,
):
    tok = tl.program_id(0)
    pid_h = tl.program_id(1)
    lora = tl.load(idx_ptr + tok)
    r = tl.arange(0, BLOCK_R)
    h = pid_h * BLOCK_H + tl.arange(0, BLOCK_H)
    x = tl.load(x_ptr + tok * x_stride + r, mask=r < rank, other=0.0)
    w = tl.load(
        w_ptr + lora * w_l_stride + h[:, None] * w_h_stride + r[None, :] * w_r_stride,
        mask=(h[:, None] < hidden) & (r[None, :] < rank), other=0.0)
    acc = tl.sum(x[None, :] * w, axis=1)
    o = out_ptr + tok * o_stride + slice_offset + h
    acc += tl.load(o, mask=h < hidden, other=0.0)
    tl.store(o, acc, mask=h < hidden)


def lora_expand(x, w, out, indices, slice_offset):
    L, H, R = w.shape
    grid = (x.shape[0], triton.cdiv(H, 32))
    _lora_expand_kernel[grid](
        x, w, out, indices, H, R,
        x.stride(0), w.stride(1), w.stride(1), w.stride(2), out.stride(0),
        slice_offset, BLOCK_H=32, BLOCK_R=triton.next_power_of_2(R))


def launch():
    tokens, hidden, rank, loras = 6, 40, 8, 3
    x = torch.randn(tokens, rank)
    w = torch.randn(loras, hidden, rank)
    out = torch.randn(tokens, 3 * hidden)
    indices = torch.randint(0, loras, (tokens,), dtype=torch.int32)
    lora_expand(x, w, out, indices, hidden)
    return out


def reference(x, w, out, indices):
    H = w.shape[1]
    delta = (w[indices.long()] * x[:, None, :]).sum(-1)
    return torch.cat([out[:, :H], out[:, H:2 * H] + delta, out[:, 2 * H:]], dim=1)


TRUTH = "broken"
