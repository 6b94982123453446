"""MoE router: softmax over experts, the k best by repeated argmax, weights renormalised to sum to one."""
import torch
import triton
import triton.language as tl


@triton.jit
def topk_gating_kernel(
    logits_ptr, w_ptr, id_ptr, tokens, experts, TOP_K: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_E: tl.constexpr
):
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    e = tl.arange(0, BLOCK_E)
    mask = (t[:, None] < tokens) & (e[None, :] < experts)
    x = tl.load(logits_ptr + t[:, None] * experts + e[None, :], mask=mask, other=-float("inf"))
    x = tl.where(t[:, None] < tokens, x, 0.0)
    x = tl.exp(x - tl.max(x, axis=1)[:, None])
    p = x / tl.sum(x, axis=1)[:, None]
    p = tl.where(e[None, :] < experts, p, -1.0)

    total = tl.zeros([BLOCK_T], dtype=tl.float32)
    rest = p
    for i in tl.static_range(TOP_K):
        best = tl.argmax(rest, axis=1)
        total += tl.max(rest, axis=1)
        rest = tl.where(e[None, :] == best[:, None], -1.0, rest)
    rest = p
    for i in tl.static_range(TOP_K):
        best = tl.argmax(rest, axis=1)
        tl.store(w_ptr + t * TOP_K + i, tl.max(rest, axis=1) / total, mask=t < tokens)
        tl.store(id_ptr + t * TOP_K + i, best, mask=t < tokens)
        rest = tl.where(e[None, :] == best[:, None], -1.0, rest)


def launch(tokens=21, experts=12):
    top_k = 2
    logits = torch.randn(tokens, experts)
    weights = torch.empty(tokens, top_k)
    ids = torch.empty(tokens, top_k, dtype=torch.int32)
    topk_gating_kernel[(triton.cdiv(tokens, 16),)](
        logits, weights, ids, tokens, experts, TOP_K=top_k, BLOCK_T=16, BLOCK_E=triton.next_power_of_2(experts)
    )
    return weights, ids


def reference(logits):
    weights, ids = torch.topk(torch.softmax(logits, dim=-1), 2, dim=-1)
    return weights / weights.sum(-1, keepdim=True), ids.to(torch.int32)
TRUTH = "verified"
