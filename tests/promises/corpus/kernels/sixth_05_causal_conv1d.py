import torch
import triton
import triton.language as tl


@triton.jit
def _causal_conv1d_fwd(
    x_ptr, w_ptr, bias_ptr, init_ptr, y_ptr,
    stride_xb, stride_xc, stride_xl,
    dim, seqlen,
    WIDTH: tl.constexpr, SILU: tl.constexpr,
    BLOCK_L: tl.constexpr, BLOCK_C: tl.constexpr,
):
    pb, pl, pc = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    offs_l = pl * BLOCK_L + tl.arange(0, BLOCK_L)
    offs_c = pc * BLOCK_C + tl.arange(0, BLOCK_C)
    c_ok = offs_c < dim

    acc = tl.load(bias_ptr + offs_c, mask=c_ok, other=0.0)[:, None] + tl.zeros((BLOCK_C, BLOCK_L), tl.float32)
    for w in tl.static_range(WIDTH):
        src = offs_l - (WIDTH - 1) + w
        wt = tl.load(w_ptr + offs_c * WIDTH + w, mask=c_ok, other=0.0)
        x = tl.load(x_ptr + pb * stride_xb + offs_c[:, None] * stride_xc + src[None, :] * stride_xl,
                    mask=c_ok[:, None] & (src >= 0)[None, :] & (src < seqlen)[None, :], other=0.0)
        # tokens before the first come from the state of the previous chunk
        hist = tl.load(init_ptr + (pb * dim + offs_c[:, None]) * (WIDTH - 1) + (src + WIDTH - 1)[None, :],
                       mask=c_ok[:, None] & (src < 0)[None, :], other=0.0)
        acc += wt[:, None] * (x + hist)
    if SILU:
        acc = acc / (1 + tl.exp(-acc))
    tl.store(y_ptr + pb * stride_xb + offs_c[:, None] * stride_xc + offs_l[None, :] * stride_xl, acc,
             mask=c_ok[:, None] & (offs_l < seqlen)[None, :])


def causal_conv1d_fn(x, weight, bias, initial_states):
    batch, dim, seqlen = x.shape
    width = weight.shape[1]
    y = torch.empty_like(x)
    _causal_conv1d_fwd[(batch, triton.cdiv(seqlen, 32), triton.cdiv(dim, 16))](
        x, weight, bias, initial_states, y, x.stride(0), x.stride(1), x.stride(2), dim, seqlen,
        WIDTH=width, SILU=True, BLOCK_L=32, BLOCK_C=16)
    return y


def launch(batch=2, dim=20, seqlen=39):
    x = torch.randn(batch, dim, seqlen)
    weight = torch.randn(dim, 4)
    bias = torch.randn(dim)
    initial_states = torch.randn(batch, dim, 3)
    return causal_conv1d_fn(x, weight, bias, initial_states)


def reference(x, weight, bias, initial_states):
    L = x.shape[-1]
    full = torch.cat([initial_states, x], dim=-1)
    y = bias[None, :, None]
    for i in range(4):
        y = y + weight[None, :, i, None] * full[..., i:i + L]
    return torch.nn.functional.silu(y)


TRUTH = "verified"
