import torch
import triton
import triton.language as tl


# volume rendering from densities (nerfacc): transmittance, weights and the accumulated colour of each ray
@triton.jit
def render_kernel(sigma_ptr, delta_ptr, rgb_ptr, w_ptr, color_ptr, S, BLOCK: tl.constexpr):
    ray = tl.program_id(0)
    carry = 0.0
    r = 0.0
    g = 0.0
    b = 0.0
    for start in range(0, S, BLOCK):
        s = start + tl.arange(0, BLOCK)
        mask = s < S
        sd = tl.load(sigma_ptr + ray * S + s, mask=mask, other=0.0) * tl.load(delta_ptr + ray * S + s, mask=mask, other=0.0)
        before = carry + tl.cumsum(sd, axis=0) - sd
        w = tl.exp(-before) * (1.0 - tl.exp(-sd))
        tl.store(w_ptr + ray * S + s, w, mask=mask)
        px = rgb_ptr + (ray * S + s) * 3
        r += tl.sum(w * tl.load(px, mask=mask, other=0.0), axis=0)
        g += tl.sum(w * tl.load(px + 1, mask=mask, other=0.0), axis=0)
        b += tl.sum(w * tl.load(px + 2, mask=mask, other=0.0), axis=0)
        carry += tl.sum(sd, axis=0)
    tl.store(color_ptr + ray * 3, r)
    tl.store(color_ptr + ray * 3 + 1, g)
    tl.store(color_ptr + ray * 3 + 2, b)


def launch(rays=7, samples=75):
    sigma = torch.rand(rays, samples, device="cuda")
    delta = torch.rand(rays, samples, device="cuda")
    rgb = torch.rand(rays, samples, 3, device="cuda")
    weights = torch.empty(rays, samples, device="cuda")
    color = torch.empty(rays, 3, device="cuda")
    render_kernel[(rays,)](sigma, delta, rgb, weights, color, samples, BLOCK=32)
    return weights, color


def reference(sigma, delta, rgb):
    tau = sigma * delta
    trans = torch.exp(-(torch.cumsum(tau, dim=-1) - tau))
    weights = trans * (1 - torch.exp(-tau))
    return weights, (weights[..., None] * rgb).sum(dim=1)


TRUTH = "verified"
