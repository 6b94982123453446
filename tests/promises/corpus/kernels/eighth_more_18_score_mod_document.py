import torch
import triton
import triton.language as tl


# FlexAttention-like score mod written out: soft cap by tanh, causal within a document, -inf elsewhere
@triton.jit
def score_mod(scores_ptr, doc_ptr, out_ptr, S, cap, BLOCK: tl.constexpr):
    line = tl.program_id(0)
    q = line % S
    k = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ok = k < S
    s = tl.load(scores_ptr + line * S + k, mask=ok, other=0.0) / cap
    s = cap * (2.0 * tl.sigmoid(2.0 * s) - 1.0)
    same_doc = tl.load(doc_ptr + q) == tl.load(doc_ptr + k, mask=ok, other=-1)
    keep = same_doc & (k <= q)
    tl.store(out_ptr + line * S + k, tl.where(keep, s, float("-inf")), mask=ok)


def launch(heads=3, S=40):
    scores = torch.randn(heads, S, S, device="cuda") * 20
    doc = torch.randint(0, 3, (S,), device="cuda").sort().values
    out = torch.empty_like(scores)
    score_mod[(heads * S, triton.cdiv(S, 32))](scores, doc, out, S, 20.0, BLOCK=32)
    return out


def reference(scores, doc):
    S = scores.shape[-1]
    at = torch.arange(S, device=scores.device)
    keep = (at[:, None] >= at[None, :]) & (doc[:, None] == doc[None, :])
    capped = 20.0 * torch.tanh(scores / 20.0)
    return capped.masked_fill(~keep, float("-inf"))


TRUTH = "verified"
