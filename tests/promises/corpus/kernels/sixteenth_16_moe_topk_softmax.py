"""MoE router: softmax over the experts, the two best found one after the other, weights renormalised, indices as int32."""
import torch
import triton
import triton.language as tl


@triton.jit
def _topk_softmax_kernel(
    logits_ptr, weights_ptr, ids_ptr,
    stride, E,
    TOPK: tl.constexpr, BLOCK_E: tl.constexpr, RENORM: tl.constexpr,
):
    tok = tl.program_id(0)
    e = tl.arange(0, BLOCK_E)
    x = tl.load(logits_ptr + tok * stride + e, mask=e < E, other=-float("inf")).to(tl.float32)
    p = tl.exp(x - tl.max(x, axis=0))
    p = p / tl.sum(p, axis=0)
    left = tl.where(e < E, p, -1.0)
    total = 0.0
    for k in tl.static_range(TOPK):
        best = tl.max(left, axis=0)
        arg = tl.argmax(left, axis=0)
        total += best
        tl.store(weights_ptr + tok * TOPK + k, best)
        tl.store(ids_ptr + tok * TOPK + k, arg.to(tl.int32))
        left = tl.where(e == arg, -1.0, left)
    if RENORM:
        left = tl.where(e < E, p, -1.0)
        for k in tl.static_range(TOPK):
            best = tl.max(left, axis=0)
            arg = tl.argmax(left, axis=0)
            tl.store(weights_ptr + tok * TOPK + k, best / total)
            left = tl.where(e == arg, -1.0, left)


def launch(tokens=6, experts=12):
    logits = torch.randn(tokens, experts, device="cuda")
    weights = torch.empty(tokens, 2, device="cuda", dtype=torch.float32)
    ids = torch.empty(tokens, 2, device="cuda", dtype=torch.int32)
    _topk_softmax_kernel[(tokens,)](
        logits, weights, ids, logits.stride(0), experts,
        TOPK=2, BLOCK_E=triton.next_power_of_2(experts), RENORM=True, num_warps=1,
    )
    return weights, ids


def reference(logits):
    p = torch.softmax(logits, dim=-1)
    w, i = torch.topk(p, 2, dim=-1)
    return w / w.sum(-1, keepdim=True), i.to(torch.int32)

TRUTH = "verified"
