import torch
import triton
import triton.language as tl


# sampling without a softmax: argmax(softmax(logits / temperature) / q), q ~ Exp(1), as in vLLM's sampler
@triton.jit
def exp_race_sample_kernel(logits_ptr, q_ptr, temp_ptr, out_ptr, vocab, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    temp = tl.load(temp_ptr + row)
    best = -float("inf")
    best_id = 0
    for start in range(0, vocab, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < vocab
        logit = tl.load(logits_ptr + row * stride + offs, mask=mask, other=-float("inf")).to(tl.float32)
        q = tl.load(q_ptr + row * stride + offs, mask=mask, other=1.0)
        score = logit / temp - tl.log(q)
        m = tl.max(score, axis=0)
        i = tl.argmax(score, axis=0) + start
        better = m > best
        best_id = tl.where(better, i, best_id)
        best = tl.where(better, m, best)
    tl.store(out_ptr + row, best_id.to(tl.int64))


def launch(batch=6, vocab=300):
    logits = torch.randn(batch, vocab, device="cuda")
    q = torch.rand(batch, vocab, device="cuda") + 0.01
    temperature = torch.rand(batch, device="cuda") + 0.3
    out = torch.empty(batch, dtype=torch.int64, device="cuda")
    exp_race_sample_kernel[(batch,)](logits, q, temperature, out, vocab, logits.stride(0), BLOCK=128)
    return out


def reference(logits, q, temperature):
    probs = torch.softmax(logits / temperature[:, None], dim=-1)
    return probs.div(q).argmax(dim=-1)


TRUTH = "broken"
