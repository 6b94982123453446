"""Native sparse attention, the selected branch: the 16 query heads of a KV head share the blocks that a gate chose."""
import torch
import triton
import triton.language as tl


@triton.jit
def selected_attention_fwd(
    q, k, v, block_indices, o,
    scale, Tq, num_blocks, S, HKV,
    G: tl.constexpr, BS: tl.constexpr, D: tl.constexpr,
):
    i_t, i_h, i_b = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    heads = i_h * G + tl.arange(0, G)
    o_d = tl.arange(0, D)
    o_s = tl.arange(0, BS)
    p_q = ((i_b * Tq + i_t) * HKV * G + heads[:, None]) * D + o_d[None, :]
    b_q = tl.load(q + p_q) * scale
    b_m = tl.full([G], float("-inf"), dtype=tl.float32)
    b_l = tl.zeros([G], dtype=tl.float32)
    b_o = tl.zeros([G, D], dtype=tl.float32)
    p_idx = block_indices + ((i_b * Tq + i_t) * HKV + i_h) * S
    for s in range(S):
        block = tl.load(p_idx + s)
        pos = (i_b * num_blocks + block) * BS + o_s
        p_kv = (pos[:, None] * HKV + i_h) * D + o_d[None, :]
        b_s = tl.dot(b_q, tl.trans(tl.load(k + p_kv)))
        b_mn = tl.maximum(b_m, tl.max(b_s, 1))
        b_r = tl.exp(b_m - b_mn)
        b_p = tl.exp(b_s - b_mn[:, None])
        b_l = b_l * b_r + tl.sum(b_p, 1)
        b_o = b_o * b_r[:, None] + tl.dot(b_p, tl.load(v + p_kv))
        b_m = b_mn
    tl.store(o + p_q, b_o / b_l[:, None])


def launch(B=2, Tq=5, HKV=2, num_blocks=6, S=3):
    G, BS, D = 16, 16, 16
    q = torch.randn(B, Tq, HKV * G, D, device="cuda")
    k = torch.randn(B, num_blocks * BS, HKV, D, device="cuda")
    v = torch.randn(B, num_blocks * BS, HKV, D, device="cuda")
    block_indices = torch.randint(0, num_blocks, (B, Tq, HKV, S), device="cuda")
    o = torch.empty_like(q)
    selected_attention_fwd[(Tq, HKV, B)](
        q, k, v, block_indices, o, 0.25, Tq, num_blocks, S, HKV, G=G, BS=BS, D=D
    )
    return o


def reference(q, k, v, block_indices):
    B, Tq, HKV, S = block_indices.shape
    kb = k.unflatten(1, (-1, 16)).permute(0, 3, 1, 2, 4)  # B HKV NB 16 D
    vb = v.unflatten(1, (-1, 16)).permute(0, 3, 1, 2, 4)
    b = torch.arange(B, device=q.device)[:, None, None, None]
    h = torch.arange(HKV, device=q.device)[None, None, :, None]
    ks = kb[b, h, block_indices].flatten(3, 4)  # B Tq HKV S*16 D
    vs = vb[b, h, block_indices].flatten(3, 4)
    qs = q.unflatten(2, (HKV, -1))
    p = torch.softmax(0.25 * torch.einsum("bthgd,bthnd->bthgn", qs, ks), dim=-1)
    return torch.einsum("bthgn,bthnd->bthgd", p, vs).flatten(2, 3)


TRUTH = "verified"
