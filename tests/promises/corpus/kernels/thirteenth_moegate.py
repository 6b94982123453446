"""moegate, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _topk_softmax_kernel(
    logits_ptr,
    weights_ptr,
    ids_ptr,
    stride_l,
    stride_w,
    n_tokens,
    n_experts,
    TOPK: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_E: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    rows = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    experts = tl.arange(0, BLOCK_E)
    ks = tl.arange(0, BLOCK_K)
    row_mask = rows < n_tokens

    x = tl.load(
        logits_ptr + rows[:, None] * stride_l + experts[None, :],
        mask=row_mask[:, None] & (experts[None, :] < n_experts),
        other=-float("inf"),
    ).to(tl.float32)

    top_v = tl.full([BLOCK_T, BLOCK_K], -float("inf"), dtype=tl.float32)
    top_i = tl.zeros([BLOCK_T, BLOCK_K], dtype=tl.int32)
    for k in tl.static_range(TOPK):
        best = tl.max(x, axis=1)
        idx = tl.argmax(x, axis=1)
        top_v = tl.where(ks[None, :] == k, best[:, None], top_v)
        top_i = tl.where(ks[None, :] == k, idx[:, None], top_i)
        x = tl.where(experts[None, :] == idx[:, None], -float("inf"), x)

    p = tl.exp(top_v - tl.max(top_v, axis=1)[:, None])
    p = p / tl.sum(p, axis=1)[:, None]

    out_mask = row_mask[:, None] & (ks[None, :] < TOPK)
    offs = rows[:, None] * stride_w + ks[None, :]
    tl.store(weights_ptr + offs, p, mask=out_mask)
    tl.store(ids_ptr + offs, top_i, mask=out_mask)


def fused_topk(router_logits, topk):
    T, E = router_logits.shape
    weights = torch.empty((T, topk), dtype=torch.float32, device=router_logits.device)
    ids = torch.empty((T, topk), dtype=torch.int32, device=router_logits.device)
    grid = lambda meta: (triton.cdiv(T, meta["BLOCK_T"]),)
    _topk_softmax_kernel[grid](
        router_logits, weights, ids, router_logits.stride(0), weights.stride(0), T, E,
        TOPK=topk, BLOCK_T=8, BLOCK_E=triton.next_power_of_2(E), BLOCK_K=triton.next_power_of_2(topk),
    )
    return weights, ids


def launch(tokens=13, experts=60):
    router_logits = torch.randn(tokens, experts, device="cuda")
    return fused_topk(router_logits, topk=4)


def reference(router_logits):
    weights, ids = torch.topk(router_logits.softmax(-1), 4, dim=-1)
    return weights / weights.sum(-1, keepdim=True), ids.to(torch.int32)


TRUTH = "verified"
