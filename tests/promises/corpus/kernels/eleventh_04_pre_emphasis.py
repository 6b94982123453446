import torch
import triton
import triton.language as tl


# audio front end: y[t] = x[t] - coeff * x[t - 1], y[0] = x[0]
@triton.jit
def preemphasis_kernel(wav_ptr, out_ptr, coeff, num_samples, stride_b, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    t = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = t < num_samples
    base = wav_ptr + b * stride_b
    cur = tl.load(base + t, mask=mask, other=0.0)
    prev = tl.load(base + t - 1, mask=mask, other=0.0)
    tl.store(out_ptr + b * stride_b + t, cur - coeff * prev, mask=mask)


def launch(batch=4, samples=900):
    wav = torch.randn(batch, samples, device="cuda")
    out = torch.empty_like(wav)
    preemphasis_kernel[(batch, triton.cdiv(samples, 256))](wav, out, 0.97, samples, wav.stride(0), BLOCK=256)
    return out


def reference(wav):
    return torch.cat([wav[:, :1], wav[:, 1:] - 0.97 * wav[:, :-1]], dim=1)


TRUTH = "broken"
