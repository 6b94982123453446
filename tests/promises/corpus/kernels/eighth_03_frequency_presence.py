import torch
import triton
import triton.language as tl


@triton.jit
def penalty_kernel(logits_ptr, count_ptr, freq_ptr, pres_ptr, temp_ptr, out_ptr, V, BLOCK: tl.constexpr):
    row = tl.program_id(1)
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = cols < V
    x = tl.load(logits_ptr + row * V + cols, mask=keep, other=0.0).to(tl.float32)
    n = tl.load(count_ptr + row * V + cols, mask=keep, other=0)
    freq = tl.load(freq_ptr + row)
    pres = tl.load(pres_ptr + row)
    t = tl.load(temp_ptr + row)
    x -= freq * n.to(tl.float32)
    x -= tl.where(n > 0, pres, 0.0)
    tl.store(out_ptr + row * V + cols, x / t, mask=keep)


def launch(B=4, V=200):
    logits = torch.randn(B, V, device="cuda")
    counts = torch.randint(0, 4, (B, V), dtype=torch.int32, device="cuda")
    freq = torch.rand(B, device="cuda")
    pres = torch.rand(B, device="cuda")
    temperature = torch.rand(B, device="cuda") + 0.5
    out = torch.empty_like(logits)
    penalty_kernel[(triton.cdiv(V, 64), B)](logits, counts, freq, pres, temperature, out, V, BLOCK=64)
    return out


def reference(logits, counts, freq, pres, temperature):
    y = logits - freq.unsqueeze(1) * counts
    y = y - pres.unsqueeze(1) * (counts > 0)
    return y / temperature.unsqueeze(1)


TRUTH = "verified"
