import torch
import triton
import triton.language as tl


# DiT block: x + gate * (h * (1 + scale) + shift), the three of a sample side by side in one tensor
@triton.jit
def modulate_gate(x_ptr, h_ptr, mod_ptr, out_ptr, T, D, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    b = token // T
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ok = d < D
    shift = tl.load(mod_ptr + b * 3 * D + d, mask=ok)
    scale = tl.load(mod_ptr + b * 3 * D + D + d, mask=ok)
    gate = tl.load(mod_ptr + b * 3 * D + 2 * D + d, mask=ok)
    x = tl.load(x_ptr + token * D + d, mask=ok)
    h = tl.load(h_ptr + token * D + d, mask=ok)
    tl.store(out_ptr + token * D + d, x + gate * (h * (1.0 + scale) + shift), mask=ok)


def launch(batch=3, T=7, D=48):
    x = torch.randn(batch, T, D, device="cuda")
    h = torch.randn(batch, T, D, device="cuda")
    mod = torch.randn(batch, 3 * D, device="cuda")
    out = torch.empty_like(x)
    modulate_gate[(batch * T, triton.cdiv(D, 32))](x, h, mod, out, T, D, BLOCK=32)
    return out


def reference(x, h, mod):
    shift, scale, gate = mod[:, None, :].chunk(3, dim=-1)
    return x + gate * (h * (1 + scale) + shift)


TRUTH = "verified"
