import torch
import triton
import triton.language as tl


@triton.jit
def combine_kernel(mid_ptr, lse_ptr, out_ptr, out_lse_ptr, S, D, BLOCK_D: tl.constexpr):
    head = tl.program_id(0)
    d = tl.arange(0, BLOCK_D)
    mask = d < D
    m = -float("inf")
    total = 0.0
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    for s in range(0, S):
        part = tl.load(mid_ptr + (head * S + s) * D + d, mask=mask, other=0.0)
        lse = tl.load(lse_ptr + head * S + s)
        new_m = tl.maximum(m, lse)
        old = tl.exp(m - new_m)
        w = tl.exp(lse - new_m)
        acc = acc * old + w * part
        total = total * old + w
        m = new_m
    tl.store(out_ptr + head * D + d, acc / total, mask=mask)
    tl.store(out_lse_ptr + head, m + tl.log(total))


def launch(B=2, H=3, S=5, D=24):
    mid = torch.randn(B, H, S, D, device="cuda")
    lse = torch.randn(B, H, S, device="cuda")
    out = torch.empty(B, H, D, device="cuda")
    out_lse = torch.empty(B, H, device="cuda")
    combine_kernel[(B * H,)](mid, lse, out, out_lse, S, D, BLOCK_D=triton.next_power_of_2(D))
    return out, out_lse


def reference(mid, lse):
    w = torch.softmax(lse, dim=-1)
    return (w.unsqueeze(-1) * mid).sum(dim=2), torch.logsumexp(lse, dim=-1)


TRUTH = "verified"
