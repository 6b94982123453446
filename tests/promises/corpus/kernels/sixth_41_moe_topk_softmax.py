import torch
import triton
import triton.language as tl


@triton.jit
def topk_softmax_kernel(logits_ptr, weights_ptr, ids_ptr, n_experts, stride_l, stride_o,
                        TOPK: tl.constexpr, RENORM: tl.constexpr, BLOCK_E: tl.constexpr):
    row = tl.program_id(0)
    e = tl.arange(0, BLOCK_E)
    x = tl.load(logits_ptr + row * stride_l + e, mask=e < n_experts, other=float("-inf"))
    x = x - tl.max(x, axis=0)
    p = tl.exp(x)
    p = p / tl.sum(p, axis=0)

    # greedy rounds: take the largest, strike it out
    left = tl.where(e < n_experts, p, -1.0)
    total = 0.0
    for k in tl.static_range(TOPK):
        w = tl.max(left, axis=0)
        i = tl.argmax(left, axis=0)
        tl.store(weights_ptr + row * stride_o + k, w)
        tl.store(ids_ptr + row * stride_o + k, i.to(tl.int32))
        total += w
        left = tl.where(e == i, -1.0, left)

    if RENORM:
        left = tl.where(e < n_experts, p, -1.0)
        for k in tl.static_range(TOPK):
            w = tl.max(left, axis=0)
            i = tl.argmax(left, axis=0)
            tl.store(weights_ptr + row * stride_o + k, w / total)
            left = tl.where(e == i, -1.0, left)


def fused_topk(router_logits, topk, renormalize):
    T, E = router_logits.shape
    w = torch.empty(T, topk, dtype=torch.float32)
    ids = torch.empty(T, topk, dtype=torch.int32)
    topk_softmax_kernel[(T,)](router_logits, w, ids, E, router_logits.stride(0), w.stride(0),
                              TOPK=topk, RENORM=renormalize, BLOCK_E=triton.next_power_of_2(E))
    return w, ids


def launch(tokens=11, experts=13):
    router_logits = torch.randn(tokens, experts)
    return fused_topk(router_logits, 2, True)


def reference(router_logits):
    p = router_logits.softmax(-1)
    w, ids = torch.topk(p, 2, dim=-1)
    return w / w.sum(-1, keepdim=True), ids.to(torch.int32)


TRUTH = "verified"
