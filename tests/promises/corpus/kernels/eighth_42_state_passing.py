# broken: what enters a chunk is stored after the chunk's own state has been added, so each chunk sees itself
import torch
import triton
import triton.language as tl


@triton.jit
def state_passing_kernel(states_ptr, decay_ptr, out_ptr, final_ptr, C, D, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = d < D
    s = tl.zeros([BLOCK], dtype=tl.float32)
    for c in range(C):
        new = tl.load(states_ptr + (b * C + c) * D + d, mask=mask, other=0.0)
        g = tl.exp(tl.load(decay_ptr + b * C + c))
        s = g * s + new
        tl.store(out_ptr + (b * C + c) * D + d, s, mask=mask)
    tl.store(final_ptr + b * D + d, s, mask=mask)


def launch(B=2, C=4, D=40):
    states = torch.randn(B, C, D, device="cuda")
    decay = -torch.rand(B, C, device="cuda")
    out = torch.empty_like(states)
    final = torch.empty(B, D, device="cuda")
    state_passing_kernel[(B, triton.cdiv(D, 32))](states, decay, out, final, C, D, BLOCK=32)
    return out, final


def reference(states, decay):
    s = torch.zeros_like(states[:, 0])
    out = []
    for c in range(states.shape[1]):
        out.append(s)
        s = torch.exp(decay[:, c, None]) * s + states[:, c]
    return torch.stack(out, dim=1), s


TRUTH = "broken"
