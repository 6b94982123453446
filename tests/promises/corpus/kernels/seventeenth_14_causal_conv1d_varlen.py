"""SSM serving: depthwise causal conv1d (4 taps) + bias + SiLU over packed sequences (cu_seqlens), no mixing across sequence starts."""
import torch
import triton
import triton.language as tl


@triton.jit
def causal_conv1d_varlen_kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, cu_ptr,
    stride_xt, stride_wd, stride_yt,
    dim, max_len,
    WIDTH: tl.constexpr, SILU: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr,
):
    seq = tl.program_id(0)
    start = tl.load(cu_ptr + seq)
    end = tl.load(cu_ptr + seq + 1)
    length = end - start
    t = tl.program_id(1) * BLOCK_T + tl.arange(0, BLOCK_T)
    d = tl.program_id(2) * BLOCK_D + tl.arange(0, BLOCK_D)
    d_mask = d < dim
    acc = tl.zeros((BLOCK_T, BLOCK_D), dtype=tl.float32)
    acc += tl.load(b_ptr + d, mask=d_mask, other=0.0)[None, :]
    for k in tl.static_range(WIDTH):
        src = t - (WIDTH - 1) + k
        ok = (src >= 0) & (src < length)
        x = tl.load(x_ptr + (start + src)[:, None] * stride_xt + d[None, :],
                    mask=ok[:, None] & d_mask[None, :], other=0.0)
        w = tl.load(w_ptr + d * stride_wd + k, mask=d_mask, other=0.0)
        acc += x * w[None, :]
    if SILU:
        acc = acc * tl.sigmoid(acc)
    tl.store(y_ptr + (start + t)[:, None] * stride_yt + d[None, :], acc,
             mask=(t < length)[:, None] & d_mask[None, :])


def launch(seqs=3, max_len=20, dim=24):
    lengths = torch.randint(1, max_len + 1, (seqs,), device="cuda", dtype=torch.int32)
    cu_seqlens = torch.zeros(seqs + 1, device="cuda", dtype=torch.int32)
    cu_seqlens[1:] = lengths.cumsum(0)
    total = int(cu_seqlens[-1])
    x = torch.randn(total, dim, device="cuda")
    weight = torch.randn(dim, 4, device="cuda")
    bias = torch.randn(dim, device="cuda")
    y = torch.empty_like(x)
    BLOCK_T, BLOCK_D = 16, 16
    causal_conv1d_varlen_kernel[(seqs, triton.cdiv(max_len, BLOCK_T), triton.cdiv(dim, BLOCK_D))](
        x, weight, bias, y, cu_seqlens, x.stride(0), weight.stride(0), y.stride(0), dim, max_len,
        WIDTH=4, SILU=True, BLOCK_T=BLOCK_T, BLOCK_D=BLOCK_D,
    )
    return y


def reference(x, weight, bias, cu_seqlens):
    total = x.shape[0]
    position = torch.arange(total, device=x.device)
    seq = torch.searchsorted(cu_seqlens[1:].long(), position, right=True)
    local = position - cu_seqlens[seq].long()
    acc = bias[None, :].expand(total, -1)
    for back in range(4):
        tap = x[(position - back).clamp(min=0)] * weight[:, 3 - back]
        acc = acc + torch.where((local >= back)[:, None], tap, 0.0)
    return torch.nn.functional.silu(acc)

TRUTH = "verified"
