import torch
import torch.nn.functional as F
import triton
import triton.language as tl

TRUTH = "different"
WHY = "divides by all rows; F.cross_entropy divides by the rows whose label is not -100, and one of them is"


@triton.jit
def ce_mean_kernel(logits, labels, loss, M, V, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(logits + row * V + cols, mask=cols < V, other=-float("inf"))
    label = tl.load(labels + row)
    m = tl.max(x, 0)
    lse = m + tl.log(tl.sum(tl.exp(x - m), 0))
    keep = label != -100
    picked = tl.load(logits + row * V + label, mask=keep, other=0.0)
    tl.atomic_add(loss, tl.where(keep, lse - picked, 0.0) / M)


def launch(M=6, V=50):
    torch.manual_seed(0)
    logits = torch.randn(M, V)
    labels = torch.randint(0, V, (M,))
    labels[2] = -100
    loss = torch.zeros(1)
    ce_mean_kernel[(M,)](logits, labels, loss, M, V, BLOCK=triton.next_power_of_2(V))
    return loss


def reference(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=-100).reshape(1)
