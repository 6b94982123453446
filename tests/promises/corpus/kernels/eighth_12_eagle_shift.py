# broken: the load of the next token is masked by i < T and not by i + 1 < T, so the last lane reads past the end of ids
import torch
import triton
import triton.language as tl


@triton.jit
def eagle_shift_kernel(ids_ptr, next_ptr, out_ptr, T, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = i < T
    shifted = tl.load(ids_ptr + b * T + i + 1, mask=mask, other=0)
    sampled = tl.load(next_ptr + b)
    out = tl.where(i == T - 1, sampled, shifted)
    tl.store(out_ptr + b * T + i, out, mask=mask)


def launch(B=3, T=40):
    ids = torch.randint(0, 1000, (B, T), device="cuda")
    sampled = torch.randint(0, 1000, (B,), device="cuda")
    out = torch.empty_like(ids)
    eagle_shift_kernel[(B, triton.cdiv(T, 16))](ids, sampled, out, T, BLOCK=16)
    return out


def reference(ids, sampled):
    return torch.cat([ids[:, 1:], sampled[:, None]], dim=1)


TRUTH = "broken"
