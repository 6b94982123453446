import torch
import triton
import triton.language as tl


@triton.jit
def alibi_kernel(s_ptr, slope_ptr, p_ptr, H, T, scale, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    bh = tl.program_id(1)
    slope = tl.load(slope_ptr + bh % H)
    j = tl.arange(0, BLOCK)
    inside = j < T
    row = (bh * T + i) * T
    s = tl.load(s_ptr + row + j, mask=inside, other=0.0) * scale
    s = s + slope * (j - i).to(tl.float32)
    s = tl.where(j <= i, s, -float("inf"))
    e = tl.exp(s - tl.max(s, axis=0))
    tl.store(p_ptr + row + j, e / tl.sum(e, axis=0), mask=inside)


def launch(B=2, H=3, T=20):
    scores = torch.randn(B, H, T, T, device="cuda")
    slopes = torch.rand(H, device="cuda")
    probs = torch.empty_like(scores)
    alibi_kernel[(T, B * H)](scores, slopes, probs, H, T, 0.25, BLOCK=triton.next_power_of_2(T))
    return probs


def reference(scores, slopes):
    T = scores.shape[-1]
    t = torch.arange(T, device=scores.device)
    distance = t[None, :] - t[:, None]
    s = scores * 0.25 + slopes[:, None, None] * distance
    s = s.masked_fill(distance > 0, float("-inf"))
    return torch.softmax(s, dim=-1)


TRUTH = "verified"
