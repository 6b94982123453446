import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["eps"])
def fused_add_rms_norm_kernel(
    input_ptr,  # pointer to the input
    residual_ptr,  # pointer to the residual
    w_ptr,  # pointer to the weights
    in_stride_r,  # how much to increase the pointer when moving by 1 row
    in_stride_c,  # how much to increase the pointer when moving by 1 col
    r_stride_r,
    r_stride_c,
    N,  # number of columns in in_ptr
    eps,  # epsilon to avoid division by zero
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    input_ptr += pid * in_stride_r
    residual_ptr += pid * r_stride_r

    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < N
    x = tl.load(input_ptr + cols * in_stride_c, mask, other=0.0).to(tl.float32)
    r = tl.load(residual_ptr + cols * r_stride_c, mask, other=0.0).to(tl.float32)

    x += r
    # write back to residual
    tl.store(residual_ptr + cols * r_stride_c, x, mask=mask)

    var = tl.sum(x * x / N, axis=0)
    rrms = 1 / tl.sqrt(var + eps)

    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    y = (x * rrms).to(input_ptr.dtype.element_ty) * w
    # write back to input
    tl.store(input_ptr + cols * in_stride_c, y, mask=mask)


def fused_add_rms_norm(x, residual, normalized_shape, weight, eps=1e-5):
    dim = x.ndim - len(normalized_shape)
    M = 1
    for s in x.shape[:dim]:
        M *= s
    N = 1
    for s in normalized_shape:
        N *= s
    BLOCK_SIZE = triton.next_power_of_2(N)
    x = x.contiguous()
    residual = residual.contiguous()
    weight = weight.contiguous()
    fused_add_rms_norm_kernel[(M,)](x, residual, weight, N, 1, N, 1, N, eps, BLOCK_SIZE)
    return x, residual


def launch():
    batch, seq, hidden = 2, 6, 56
    x = torch.randn(batch, seq, hidden)
    residual = torch.randn(batch, seq, hidden)
    weight = torch.randn(hidden)
    return fused_add_rms_norm(x, residual, (hidden,), weight)


def reference(x, residual, weight):
    s = x + residual
    return s * torch.rsqrt((s * s).mean(-1, keepdim=True) + 1e-5) * weight, s


TRUTH = "verified"
