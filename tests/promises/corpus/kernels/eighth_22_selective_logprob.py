# The log-probability of each chosen token, without the whole log-softmax.
import torch
import triton
import triton.language as tl


@triton.jit
def logprob_kernel(logits_ptr, label_ptr, out_ptr, V, stride, inv_temp, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    base = logits_ptr + row * stride
    m = -float("inf")
    s = 0.0
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(base + cols, mask=cols < V, other=-float("inf")) * inv_temp
        new_m = tl.maximum(m, tl.max(x, axis=0))
        s = s * tl.exp(m - new_m) + tl.sum(tl.exp(x - new_m), axis=0)
        m = new_m
    label = tl.load(label_ptr + row)
    chosen = tl.load(base + label) * inv_temp
    tl.store(out_ptr + row, chosen - m - tl.log(s))


def launch(T=5, V=200):
    logits = torch.randn(T, V, device="cuda")
    labels = torch.randint(0, V, (T,), device="cuda")
    out = torch.empty(T, device="cuda")
    logprob_kernel[(T,)](logits, labels, out, V, logits.stride(0), 1.25, BLOCK=64)
    return out


launch.assume = ["0 <= labels < V"]


def reference(logits, labels):
    logp = torch.log_softmax(logits * 1.25, dim=-1)
    return logp.gather(1, labels[:, None]).squeeze(1)


TRUTH = "verified"
