import torch
import triton
import triton.language as tl


# Megatron's vocabulary-parallel embedding: a rank's share of the rows; zeros for tokens of other ranks
@triton.jit
def vocab_embedding(ids_ptr, weight_ptr, out_ptr, tokens, start, shard, dim, BT: tl.constexpr, BD: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    col = tl.program_id(1) * BD + tl.arange(0, BD)
    local = tl.load(ids_ptr + t, mask=t < tokens, other=-1) - start
    mine = (local >= 0) & (local < shard)
    rows = tl.load(weight_ptr + local[:, None] * dim + col[None, :], mask=mine[:, None] & (col < dim)[None, :], other=0.0)
    tl.store(out_ptr + t[:, None] * dim + col[None, :], rows, mask=(t < tokens)[:, None] & (col < dim)[None, :])


def launch(tokens=13, shard=10, rank=2, dim=40):
    ids = torch.randint(0, 4 * shard, (tokens,), device="cuda")
    weight = torch.randn(shard, dim, device="cuda")
    out = torch.empty(tokens, dim, device="cuda")
    grid = (triton.cdiv(tokens, 8), triton.cdiv(dim, 32))
    vocab_embedding[grid](ids, weight, out, tokens, rank * shard, shard, dim, BT=8, BD=32)
    return out


def reference(ids, weight, rank):
    local = ids - rank * weight.shape[0]
    outside = (local < 0) | (local >= weight.shape[0])
    rows = weight[local.masked_fill(outside, 0)]
    return rows.masked_fill(outside[:, None], 0.0)


TRUTH = "verified"
