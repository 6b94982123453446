"""First GEMM of a fused MoE: blocks of sorted token slots (padded with n_slots), one expert per block, rows gathered by slot // top_k, gate weight applied."""
import torch
import triton
import triton.language as tl


@triton.jit
def moe_gemm(x_ptr, w_ptr, gate_ptr, sorted_ptr, expert_ptr, out_ptr, n_slots, N, K, sxm, swe, swk, som,
             TOP_K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    blk = tl.program_id(0)
    pn = tl.program_id(1)
    pos = blk * BM + tl.arange(0, BM)
    slot = tl.load(sorted_ptr + pos)
    live = slot < n_slots
    expert = tl.load(expert_ptr + blk).to(tl.int64)
    rn = pn * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, tl.cdiv(K, BK)):
        rk = k0 * BK + tl.arange(0, BK)
        x = tl.load(x_ptr + (slot // TOP_K)[:, None] * sxm + rk[None, :], mask=live[:, None] & (rk[None, :] < K), other=0.0)
        w = tl.load(w_ptr + expert * swe + rk[:, None] * swk + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(x, w)
    gate = tl.load(gate_ptr + slot, mask=live, other=0.0)
    acc = acc * gate[:, None]
    tl.store(out_ptr + pos[:, None] * som + rn[None, :], acc, mask=rn[None, :] < N)


def launch(tokens=13, blocks=5, N=40, K=48, E=4):
    top_k = 2
    x = torch.randn(tokens, K, device="cuda")
    w = torch.randn(E, K, N, device="cuda")
    gate = torch.rand(tokens * top_k, device="cuda")
    sorted_ids = torch.randint(0, tokens * top_k + 1, (blocks * 16,), device="cuda", dtype=torch.int32)
    expert_ids = torch.randint(0, E, (blocks,), device="cuda", dtype=torch.int32)
    out = torch.empty(blocks * 16, N, device="cuda")
    moe_gemm[(blocks, triton.cdiv(N, 32))](x, w, gate, sorted_ids, expert_ids, out, tokens * top_k, N, K, x.stride(0), w.stride(0), w.stride(1), out.stride(0),
                                           TOP_K=top_k, BM=16, BN=32, BK=16)
    return out


def reference(x, w, gate, sorted_ids, expert_ids):
    n_slots = gate.shape[0]
    live = sorted_ids < n_slots
    slot = torch.where(live, sorted_ids, 0).long()
    rows = x[slot // 2] * torch.where(live, gate[slot], 0.0)[:, None]
    y = torch.bmm(rows.view(expert_ids.shape[0], 16, x.shape[1]), w[expert_ids.long()])
    return y.view(sorted_ids.shape[0], w.shape[2])
TRUTH = "verified"
