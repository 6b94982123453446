import torch
import triton
import triton.language as tl


# rectified flow: x_t = (1 - t) * x0 + t * noise, target v = noise - x0, with one t for each sample
@triton.jit
def flow_match_kernel(x0_ptr, noise_ptr, t_ptr, xt_ptr, v_ptr, numel, per_sample, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < numel
    t = tl.load(t_ptr + offs // per_sample, mask=mask)
    x0 = tl.load(x0_ptr + offs, mask=mask)
    n = tl.load(noise_ptr + offs, mask=mask)
    tl.store(xt_ptr + offs, (1.0 - t) * x0 + t * n, mask=mask)
    tl.store(v_ptr + offs, n - x0, mask=mask)


def flow_match(x0, noise, t):
    xt, v = torch.empty_like(x0), torch.empty_like(x0)
    numel = x0.numel()
    flow_match_kernel[(triton.cdiv(numel, 512),)](x0, noise, t, xt, v, numel, x0.shape[-1], BLOCK=512)
    return xt, v


def launch(batch=6, channels=4, length=90):
    x0 = torch.randn(batch, channels, length, device="cuda")
    noise = torch.randn(batch, channels, length, device="cuda")
    t = torch.rand(batch, device="cuda")
    return flow_match(x0, noise, t)


def reference(x0, noise, t):
    t = t[:, None, None]
    return (1 - t) * x0 + t * noise, noise - x0


TRUTH = "broken"
