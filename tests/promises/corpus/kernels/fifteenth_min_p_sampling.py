"""Min-p sampling with Gumbel noise made from given uniforms: a pass for the row's maximum, a pass that keeps the best noisy kept logit and its place."""
import torch
import triton
import triton.language as tl


@triton.jit
def min_p_sample(logits_ptr, u_ptr, temp_ptr, minp_ptr, out_ptr, V, stride, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    inv_t = 1.0 / tl.load(temp_ptr + b)
    cut = tl.log(tl.load(minp_ptr + b))
    top = tl.full([BLOCK], float("-inf"), tl.float32)
    for v0 in range(0, V, BLOCK):
        v = v0 + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + b * stride + v, mask=v < V, other=float("-inf"))
        top = tl.maximum(top, x * inv_t)
    m = tl.max(top, 0)
    best = float("-inf")
    best_i = 0
    for v0 in range(0, V, BLOCK):
        v = v0 + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + b * stride + v, mask=v < V, other=float("-inf")) * inv_t
        u = tl.load(u_ptr + b * stride + v, mask=v < V, other=0.5)
        g = x - tl.log(-tl.log(u))
        g = tl.where((v < V) & (x >= m + cut), g, float("-inf"))
        cand, ci = tl.max(g, 0, return_indices=True)
        if cand > best:
            best = cand
            best_i = v0 + ci
    tl.store(out_ptr + b, best_i)


def launch(batch=6, vocab=300):
    logits = torch.randn(batch, vocab, device="cuda") * 3
    u = torch.rand(batch, vocab, device="cuda") * 0.98 + 0.01
    temperature = torch.rand(batch, device="cuda") + 0.5
    min_p = torch.rand(batch, device="cuda") * 0.2 + 0.01
    out = torch.empty(batch, device="cuda", dtype=torch.int32)
    min_p_sample[(batch,)](logits, u, temperature, min_p, out, vocab, logits.stride(0), BLOCK=128)
    return out


def reference(logits, u, temperature, min_p):
    x = logits / temperature[:, None]
    keep = x >= x.amax(-1, keepdim=True) + torch.log(min_p)[:, None]
    g = x - torch.log(-torch.log(u))
    return g.masked_fill(~keep, float("-inf")).argmax(-1).int()
TRUTH = "verified"
