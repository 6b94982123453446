import torch
import triton
import triton.language as tl

TRUTH = "verified"
WHY = "ids are remainders by the number of rows, so every lookup is inside"


@triton.jit
def embed_kernel(weight, ids, out, D, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    row = tl.load(ids + t)
    d = tl.arange(0, BLOCK)
    w = tl.load(weight + row * D + d, mask=d < D)
    tl.store(out + t * D + d, w, mask=d < D)


def launch(T=17, V=11, D=24):
    torch.manual_seed(0)
    weight = torch.randn(V, D)
    ids = (torch.arange(T) * 7 + 3) % V
    out = torch.empty(T, D)
    embed_kernel[(T,)](weight, ids, out, D, BLOCK=triton.next_power_of_2(D))
    return out


def reference(weight, ids):
    return weight[ids]
