import torch
import triton
import triton.language as tl


# ColBERT late interaction: score[b, d] = sum over query tokens of the best dot product with a document's tokens
@triton.jit
def maxsim_kernel(q_ptr, docs_ptr, len_ptr, out_ptr, NQ, L, n_docs, DIM: tl.constexpr, BLOCK_Q: tl.constexpr,
                  BLOCK_L: tl.constexpr):
    b = tl.program_id(0)
    d = tl.program_id(1)
    doc_len = tl.load(len_ptr + d)
    rq = tl.arange(0, BLOCK_Q)
    rl = tl.arange(0, BLOCK_L)
    rd = tl.arange(0, DIM)
    total = 0.0
    for q0 in range(0, NQ, BLOCK_Q):
        qi = q0 + rq
        q = tl.load(q_ptr + (b * NQ + qi[:, None]) * DIM + rd[None, :], mask=(qi < NQ)[:, None], other=0.0)
        best = tl.full((BLOCK_Q,), -float("inf"), tl.float32)
        for l0 in range(0, doc_len, BLOCK_L):
            li = l0 + rl
            t = tl.load(docs_ptr + (d * L + li[None, :]) * DIM + rd[:, None], mask=(li < doc_len)[None, :], other=0.0)
            s = tl.dot(q, t)
            s = tl.where((li < doc_len)[None, :], s, -float("inf"))
            best = tl.maximum(best, tl.max(s, 1))
        total += tl.sum(tl.where(qi < NQ, best, 0.0), 0)
    tl.store(out_ptr + b * n_docs + d, total)


def launch(batch=3, nq=21, n_docs=5, max_len=44):
    q = torch.randn(batch, nq, 32, device="cuda")
    docs = torch.randn(n_docs, max_len, 32, device="cuda")
    lengths = torch.randint(1, max_len + 1, (n_docs,), dtype=torch.int32, device="cuda")
    scores = torch.empty(batch, n_docs, device="cuda")
    maxsim_kernel[(batch, n_docs)](q, docs, lengths, scores, nq, max_len, n_docs, DIM=32, BLOCK_Q=16, BLOCK_L=16)
    return scores


def reference(q, docs, lengths):
    sim = torch.einsum("bqe,dle->bdql", q, docs)
    pad = torch.arange(docs.shape[1], device=q.device)[None, :] >= lengths[:, None]
    sim = sim.masked_fill(pad[None, :, None, :], float("-inf"))
    return sim.amax(-1).sum(-1)


TRUTH = "verified"
