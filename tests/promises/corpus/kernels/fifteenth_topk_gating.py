"""MoE router: softmax over the experts of a token, top-4 by repeated argmax in a static loop, weights renormalised to sum to one."""
import torch
import triton
import triton.language as tl


@triton.jit
def topk_gating_kernel(logits_ptr, weight_ptr, idx_ptr, E, stride, K: tl.constexpr, BLOCK_E: tl.constexpr):
    t = tl.program_id(0)
    e = tl.arange(0, BLOCK_E)
    x = tl.load(logits_ptr + t * stride + e, mask=e < E, other=float("-inf")).to(tl.float32)
    x = tl.exp(x - tl.max(x, 0))
    p = x / tl.sum(x, 0)
    p = tl.where(e < E, p, -1.0)
    kk = tl.arange(0, K)
    vals = tl.zeros([K], tl.float32)
    ids = tl.zeros([K], tl.int32)
    for k in tl.static_range(K):
        best = tl.max(p, 0)
        arg = tl.argmax(p, 0)
        vals = tl.where(kk == k, best, vals)
        ids = tl.where(kk == k, arg, ids)
        p = tl.where(e == arg, -1.0, p)
    vals = vals / tl.sum(vals, 0)
    tl.store(weight_ptr + t * K + kk, vals)
    tl.store(idx_ptr + t * K + kk, ids)


def launch(tokens=11, experts=20):
    K = 4
    logits = torch.randn(tokens, experts, device="cuda")
    weights = torch.empty(tokens, K, device="cuda", dtype=torch.float32)
    ids = torch.empty(tokens, K, device="cuda", dtype=torch.int32)
    topk_gating_kernel[(tokens,)](logits, weights, ids, experts, logits.stride(0), K=K, BLOCK_E=triton.next_power_of_2(experts), num_warps=1)
    return weights, ids


def reference(logits):
    p = logits.softmax(-1)
    w, i = torch.topk(p, 4, dim=-1)
    return w / w.sum(-1, keepdim=True), i.int()
TRUTH = "verified"
