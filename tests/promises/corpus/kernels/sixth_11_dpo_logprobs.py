"""Summed log-probabilities of the labelled tokens of each sequence, and the DPO loss on top."""
import torch
import triton
import triton.language as tl


@triton.jit
def seq_logp_kernel(logits, labels, out, T, V, s_b, s_t, IGNORE: tl.constexpr, BV: tl.constexpr):
    b, t = tl.program_id(0), tl.program_id(1)
    y = tl.load(labels + b * T + t)
    row = logits + b * s_b + t * s_t
    v = tl.arange(0, BV)
    m = tl.full([BV], float("-inf"), tl.float32)
    s = tl.zeros([BV], tl.float32)
    for v0 in range(0, V, BV):
        x = tl.load(row + v0 + v, mask=v0 + v < V, other=float("-inf"))
        nm = tl.maximum(m, x)
        s = s * tl.where(m == float("-inf"), 0.0, tl.exp(m - nm)) + tl.where(x == float("-inf"), 0.0, tl.exp(x - nm))
        m = nm
    top = tl.max(m, 0)
    total = tl.sum(tl.where(m == float("-inf"), 0.0, s * tl.exp(m - top)), 0)
    lse = top + tl.log(total)
    keep = y != IGNORE
    picked = tl.load(row + y, mask=keep, other=0.0)
    tl.store(out + b * T + t, tl.where(keep, picked - lse, 0.0))


def sequence_logps(logits, labels):
    B, T, V = logits.shape
    out = torch.empty(B, T)
    seq_logp_kernel[(B, T)](logits, labels, out, T, V, logits.stride(0), logits.stride(1), IGNORE=-100, BV=32)
    return out.sum(-1)


def launch(pairs=2, T=5, V=70):
    chosen = torch.randn(pairs, T, V)
    rejected = torch.randn(pairs, T, V)
    chosen_labels = torch.randint(0, V, (pairs, T))
    rejected_labels = torch.randint(0, V, (pairs, T))
    ref_margin = torch.randn(pairs)
    margin = sequence_logps(chosen, chosen_labels) - sequence_logps(rejected, rejected_labels)
    return -torch.nn.functional.logsigmoid(0.1 * (margin - ref_margin))


def reference(chosen, rejected, chosen_labels, rejected_labels, ref_margin):
    def logps(x, y):
        return x.log_softmax(-1).gather(-1, y.unsqueeze(-1)).squeeze(-1).sum(-1)

    z = 0.1 * (logps(chosen, chosen_labels) - logps(rejected, rejected_labels) - ref_margin)
    return torch.nn.functional.softplus(-z)


TRUTH = "verified"
