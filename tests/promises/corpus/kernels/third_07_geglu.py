import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def geglu_fwd(a, b, c, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    a += pid * stride
    b += pid * stride
    c += pid * stride
    offs = tl.arange(0, BLOCK_SIZE)
    mask = offs < n_cols
    x = tl.load(a + offs, mask=mask, other=0).to(tl.float32)
    y = tl.load(b + offs, mask=mask, other=0)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    g = 0.5 * x * (1 + tanh(inner))
    tl.store(c + offs, g.to(y.dtype) * y, mask=mask)


def launch(a, b):
    shape = a.shape
    n_cols = shape[-1]
    a, b = a.view(-1, n_cols), b.view(-1, n_cols)
    c = torch.empty_like(a)
    geglu_fwd[(a.shape[0],)](a, b, c, c.stride(0), n_cols=n_cols, BLOCK_SIZE=triton.next_power_of_2(n_cols))
    return c.view(*shape)


def reference(a, b):
    return F.gelu(a, approximate="tanh") * b


def inputs(batch=2, seq=5, width=70):
    return torch.randn(batch, seq, width), torch.randn(batch, seq, width)
