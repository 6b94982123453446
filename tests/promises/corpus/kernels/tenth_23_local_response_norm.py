"""Local response normalisation across channels (AlexNet): x / (k + α/n Σ x²)^β over a window of n channels."""
import torch
import triton
import triton.language as tl


@triton.jit
def lrn_kernel(x_ptr, y_ptr, C, HW, numel, alpha, beta, k, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    idx = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = idx < numel
    c = (idx // HW) % C
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for d in tl.static_range(-(SIZE // 2), SIZE // 2 + 1):
        valid = (c + d >= 0) & (c + d < C)
        v = tl.load(x_ptr + idx + d * HW, mask=mask & valid, other=0.0)
        acc += v * v
    x = tl.load(x_ptr + idx, mask=mask)
    denom = tl.exp(beta * tl.log(k + alpha * acc / SIZE))
    tl.store(y_ptr + idx, x / denom, mask=mask)


def launch(n=2, c=11, h=5, w=7):
    x = torch.randn(n, c, h, w, device="cuda")
    y = torch.empty_like(x)
    lrn_kernel[(triton.cdiv(x.numel(), 128),)](x, y, c, h * w, x.numel(), 1e-2, 0.75, 2.0, SIZE=5, BLOCK=128)
    return y


def reference(x):
    squares = torch.nn.functional.pad(x * x, (0, 0, 0, 0, 2, 2))
    channels = x.shape[1]
    total = sum(squares[:, d:d + channels] for d in range(5))
    return x / (2.0 + 1e-2 * total / 5) ** 0.75


TRUTH = "verified"
