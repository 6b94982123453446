"""DPO loss in two launches: log-probabilities of each token, then their masked sums over chosen and rejected answers."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def token_logp_kernel(logits_ptr, stride_row, labels_ptr, logp_ptr, vocab, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    base = logits_ptr + row * stride_row
    m = float("-inf")
    d = 0.0
    for start in range(0, vocab, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(base + cols, mask=cols < vocab, other=float("-inf")).to(tl.float32)
        block_max = tl.max(x, axis=0)
        m_new = tl.maximum(m, block_max)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new), axis=0)
        m = m_new
    label = tl.load(labels_ptr + row)
    picked = tl.load(base + label).to(tl.float32)
    tl.store(logp_ptr + row, picked - m - tl.log(d))


@triton.jit
def dpo_pair_kernel(logp_ptr, ref_ptr, mask_ptr, loss_ptr, n_pairs, length, beta, BLOCK_T: tl.constexpr):
    pair = tl.program_id(0)
    offs = tl.arange(0, BLOCK_T)
    inside = offs < length
    chosen = pair * length + offs
    rejected = (pair + n_pairs) * length + offs
    c_mask = tl.load(mask_ptr + chosen, mask=inside, other=0.0)
    r_mask = tl.load(mask_ptr + rejected, mask=inside, other=0.0)
    c = tl.load(logp_ptr + chosen, mask=inside, other=0.0) - tl.load(ref_ptr + chosen, mask=inside, other=0.0)
    r = tl.load(logp_ptr + rejected, mask=inside, other=0.0) - tl.load(ref_ptr + rejected, mask=inside, other=0.0)
    margin = beta * (tl.sum(c * c_mask, axis=0) - tl.sum(r * r_mask, axis=0))
    loss = -tl.log(tl.sigmoid(margin))
    tl.store(loss_ptr + pair, loss)


def launch():
    pairs, length, vocab = 3, 21, 333
    logits = torch.randn(2 * pairs, length, vocab)
    labels = torch.randint(0, vocab, (2 * pairs, length))
    ref_logp = -torch.rand(2 * pairs, length) * 8
    mask = (torch.rand(2 * pairs, length) > 0.25).float()
    logp = torch.empty(2 * pairs, length)
    token_logp_kernel[(2 * pairs * length,)](logits, logits.stride(1), labels, logp, vocab, BLOCK=128)
    loss = torch.empty(pairs)
    dpo_pair_kernel[(pairs,)](logp, ref_logp, mask, loss, pairs, length, 0.1, BLOCK_T=triton.next_power_of_2(length))
    return loss


def reference(logits, labels, ref_logp, mask):
    logp = torch.log_softmax(logits, dim=-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    ratio = ((logp - ref_logp) * mask).sum(-1)
    chosen, rejected = ratio.chunk(2)
    return -torch.nn.functional.logsigmoid(0.1 * (chosen - rejected))
