import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "violated"
WHY = "labels[1] = -100 is used as a column: offset 50 - 100 lies before logits"


@triton.jit
def ce_kernel(logits, labels, loss, V, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(logits + row * V + cols, mask=cols < V, other=-float("inf")).to(tl.float32)
    label = tl.load(labels + row)
    m = tl.max(x, 0)
    lse = m + tl.log(tl.sum(tl.exp(x - m), 0))
    picked = tl.load(logits + row * V + label)
    tl.store(loss + row, lse - picked)


def launch(M=6, V=50):
    torch.manual_seed(0)
    logits = torch.randn(M, V)
    labels = torch.randint(0, V, (M,))
    labels[1] = -100
    loss = torch.empty(M)
    ce_kernel[(M,)](logits, labels, loss, V, BLOCK=triton.next_power_of_2(V))
    return loss


def reference(logits, labels):
    return F.cross_entropy(logits, labels.clamp(min=0), reduction="none")
