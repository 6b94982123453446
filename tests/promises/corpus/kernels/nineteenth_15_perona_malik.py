"""One step of Perona-Malik anisotropic diffusion on a batch of images, with clamped borders."""
import torch
import torch.nn.functional as F
import triton
import triton.language as tl


@triton.jit
def _flux(d, inv_kappa2):
    return d * tl.exp(-d * d * inv_kappa2)


@triton.jit
def perona_malik_kernel(img, out, H, W, inv_kappa2, lam, BY: tl.constexpr, BX: tl.constexpr):
    ys = tl.program_id(1) * BY + tl.arange(0, BY)[:, None]
    xs = tl.program_id(0) * BX + tl.arange(0, BX)[None, :]
    plane = tl.program_id(2) * H * W
    inside = (ys < H) & (xs < W)

    up = tl.maximum(ys - 1, 0)
    down = tl.minimum(ys + 1, H - 1)
    left = tl.maximum(xs - 1, 0)
    right = tl.minimum(xs + 1, W - 1)

    c = tl.load(img + plane + ys * W + xs, mask=inside)
    n = tl.load(img + plane + up * W + xs, mask=inside)
    s = tl.load(img + plane + down * W + xs, mask=inside)
    w = tl.load(img + plane + ys * W + left, mask=inside)
    e = tl.load(img + plane + ys * W + right, mask=inside)

    total = _flux(n - c, inv_kappa2) + _flux(s - c, inv_kappa2)
    total += _flux(w - c, inv_kappa2) + _flux(e - c, inv_kappa2)
    tl.store(out + plane + ys * W + xs, c + lam * total, mask=inside)


def launch(B=2, H=13, W=21):
    img = torch.rand(B, 1, H, W, device="cuda")
    out = torch.empty_like(img)
    kappa = 0.5
    grid = (triton.cdiv(W, 16), triton.cdiv(H, 8), B)
    perona_malik_kernel[grid](img, out, H, W, 1 / kappa**2, 0.125, BY=8, BX=16)
    return out


def reference(img):
    p = F.pad(img, (1, 1, 1, 1), mode="replicate")
    result = img
    for view in (p[..., :-2, 1:-1], p[..., 2:, 1:-1], p[..., 1:-1, :-2], p[..., 1:-1, 2:]):
        d = view - img
        result = result + 0.125 * torch.exp(-((d / 0.5) ** 2)) * d
    return result

TRUTH = "verified"
