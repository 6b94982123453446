"""Snake activation with learned frequencies and magnitudes per channel, as in BigVGAN's vocoder: x + sin²(αx)/β."""
import torch
import triton
import triton.language as tl


@triton.jit
def snake_kernel(x_ptr, alpha_ptr, beta_ptr, y_ptr, n_channels, length, numel, eps, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < numel
    channel = (offsets // length) % n_channels
    x = tl.load(x_ptr + offsets, mask=mask)
    alpha = tl.exp(tl.load(alpha_ptr + channel, mask=mask))
    beta = tl.exp(tl.load(beta_ptr + channel, mask=mask))
    s = tl.sin(x * alpha)
    y = x + s * s / (beta + eps)
    tl.store(y_ptr + offsets, y, mask=mask)


def launch(batch=3, channels=5, length=77):
    x = torch.randn(batch, channels, length, device="cuda")
    alpha = torch.randn(channels, device="cuda") * 0.1
    beta = torch.randn(channels, device="cuda") * 0.1
    y = torch.empty_like(x)
    numel = x.numel()
    grid = lambda meta: (triton.cdiv(numel, meta["BLOCK_SIZE"]),)
    snake_kernel[grid](x, alpha, beta, y, channels, length, numel, 1e-9, BLOCK_SIZE=256)
    return y


def reference(x, alpha, beta):
    a = alpha.exp()[None, :, None]
    b = beta.exp()[None, :, None]
    return x + (1.0 / (b + 1e-9)) * torch.sin(x * a) ** 2


TRUTH = "verified"
