# broken: the block's distances replace what was accumulated instead of being added
import torch
import triton
import triton.language as tl


@triton.jit
def tvd_kernel(p_ptr, q_ptr, loss_ptr, V, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, V, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        p = tl.load(p_ptr + row * V + cols, mask=cols < V, other=0.0)
        q = tl.load(q_ptr + row * V + cols, mask=cols < V, other=0.0)
        acc = tl.abs(p - q)
    tl.store(loss_ptr + row, 0.5 * tl.sum(acc, axis=0))


def launch(B=4, V=100):
    p = torch.softmax(torch.randn(B, V, device="cuda"), dim=-1)
    q = torch.softmax(torch.randn(B, V, device="cuda"), dim=-1)
    loss = torch.empty(B, device="cuda")
    tvd_kernel[(B,)](p, q, loss, V, BLOCK=32)
    return loss


def reference(p, q):
    return 0.5 * (p - q).abs().sum(dim=-1)


TRUTH = "broken"
