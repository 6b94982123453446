"""Min-p sampling filter: temperature per request, then every token whose probability is below min_p times the largest one gets -inf."""
import torch
import triton
import triton.language as tl


@triton.jit
def min_p_kernel(
    logits_ptr, temperature_ptr, min_p_ptr, out_ptr, kept_ptr,
    stride_lb, stride_ob, V,
    BLOCK: tl.constexpr,
):
    req = tl.program_id(0)
    temperature = tl.load(temperature_ptr + req)
    min_p = tl.load(min_p_ptr + req)
    offs = tl.arange(0, BLOCK)

    running = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    for start in range(0, V, BLOCK):
        cols = start + offs
        x = tl.load(logits_ptr + req * stride_lb + cols, mask=cols < V, other=-float("inf"))
        running = tl.maximum(running, x / temperature)
    largest = tl.max(running, axis=0)

    kept = tl.zeros((BLOCK,), dtype=tl.int32)
    for start in range(0, V, BLOCK):
        cols = start + offs
        mask = cols < V
        x = tl.load(logits_ptr + req * stride_lb + cols, mask=mask, other=-float("inf")) / temperature
        keep = tl.exp(x - largest) >= min_p
        tl.store(out_ptr + req * stride_ob + cols, tl.where(keep, x, -float("inf")), mask=mask)
        kept += (keep & mask).to(tl.int32)
    tl.store(kept_ptr + req, tl.sum(kept, axis=0))


def launch(B=4, V=100):
    logits = torch.randn(B, V, device="cuda")
    temperature = torch.rand(B, device="cuda") + 0.5
    min_p = torch.rand(B, device="cuda") * 0.5
    out = torch.empty_like(logits)
    kept = torch.empty(B, device="cuda", dtype=torch.int32)
    min_p_kernel[(B,)](
        logits, temperature, min_p, out, kept,
        logits.stride(0), out.stride(0), V,
        BLOCK=32,
    )
    return out, kept


def reference(logits, temperature, min_p):
    scaled = logits / temperature[:, None]
    probs = torch.softmax(scaled, dim=-1)
    drop = probs < min_p[:, None] * probs.amax(dim=-1, keepdim=True)
    return scaled.masked_fill(drop, -float("inf")), (~drop).sum(dim=-1).to(torch.int32)

TRUTH = "verified"
