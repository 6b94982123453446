"""Real spherical harmonics up to degree 2 of unit directions, as view-dependent radiance fields use them."""
import torch
import triton
import triton.language as tl


@triton.jit
def sh_encode_kernel(d_ptr, out_ptr, B, D: tl.constexpr, C2: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = b < B
    x = tl.load(d_ptr + b * D + 0, mask=mask, other=0.0)
    y = tl.load(d_ptr + b * D + 1, mask=mask, other=0.0)
    z = tl.load(d_ptr + b * D + 2, mask=mask, other=0.0)
    xy = x * y
    xz = x * z
    yz = y * z
    x2 = x * x
    y2 = y * y
    z2 = z * z
    o = out_ptr + b * C2
    tl.store(o + 0, tl.zeros_like(x) + 0.28209479177387814, mask=mask)
    tl.store(o + 1, -0.48860251190291987 * y, mask=mask)
    tl.store(o + 2, 0.48860251190291987 * z, mask=mask)
    tl.store(o + 3, -0.48860251190291987 * x, mask=mask)
    tl.store(o + 4, 1.0925484305920792 * xy, mask=mask)
    tl.store(o + 5, -1.0925484305920792 * yz, mask=mask)
    tl.store(o + 6, 0.94617469575755997 * z2 - 0.31539156525251999, mask=mask)
    tl.store(o + 7, -1.0925484305920792 * xz, mask=mask)
    tl.store(o + 8, 0.54627421529603959 * (x2 - y2), mask=mask)


def launch(rays=133):
    dirs = torch.nn.functional.normalize(torch.randn(rays, 3, device="cuda"), dim=-1)
    out = torch.empty(rays, 9, device="cuda")
    grid = lambda meta: (triton.cdiv(rays, meta["BLOCK"]),)
    sh_encode_kernel[grid](dirs, out, rays, D=3, C2=9, BLOCK=64)
    return out


def reference(dirs):
    x, y, z = dirs.unbind(-1)
    return torch.stack(
        [
            torch.full_like(x, 0.28209479177387814),
            -0.48860251190291987 * y,
            0.48860251190291987 * z,
            -0.48860251190291987 * x,
            1.0925484305920792 * x * y,
            -1.0925484305920792 * y * z,
            0.94617469575755997 * z**2 - 0.31539156525251999,
            -1.0925484305920792 * x * z,
            0.54627421529603959 * (x**2 - y**2),
        ],
        dim=-1,
    )


TRUTH = "verified"
