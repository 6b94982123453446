import torch
import triton
import triton.language as tl


# Gray-Scott reaction-diffusion, one explicit step on a periodic grid
@triton.jit
def gray_scott_kernel(u_ptr, v_ptr, u_out, v_out, H, W, du, dv, feed, kill, dt, BLOCK_H: tl.constexpr, BLOCK_W: tl.constexpr):
    r = tl.program_id(0) * BLOCK_H + tl.arange(0, BLOCK_H)
    c = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    mask = (r < H)[:, None] & (c < W)[None, :]
    up, down = (r + H - 1) % H, (r + 1) % H
    left, right = (c + W - 1) % W, (c + 1) % W
    here = r[:, None] * W + c[None, :]
    n = up[:, None] * W + c[None, :]
    s = down[:, None] * W + c[None, :]
    w = r[:, None] * W + left[None, :]
    e = r[:, None] * W + right[None, :]
    u = tl.load(u_ptr + here, mask=mask)
    v = tl.load(v_ptr + here, mask=mask)
    lap_u = tl.load(u_ptr + n, mask=mask) + tl.load(u_ptr + s, mask=mask) + tl.load(u_ptr + w, mask=mask) \
        + tl.load(u_ptr + e, mask=mask) - 4 * u
    lap_v = tl.load(v_ptr + n, mask=mask) + tl.load(v_ptr + s, mask=mask) + tl.load(v_ptr + w, mask=mask) \
        + tl.load(v_ptr + e, mask=mask) - 4 * v
    uvv = u * v * v
    tl.store(u_out + here, u + dt * (du * lap_u - uvv + feed * (1 - u)), mask=mask)
    tl.store(v_out + here, v + dt * (dv * lap_v + uvv - (feed + kill) * v), mask=mask)


def launch(height=37, width=50):
    u = torch.rand(height, width, device="cuda")
    v = torch.rand(height, width, device="cuda")
    u_new, v_new = torch.empty_like(u), torch.empty_like(v)
    grid = (triton.cdiv(height, 16), triton.cdiv(width, 32))
    gray_scott_kernel[grid](u, v, u_new, v_new, height, width, 0.16, 0.08, 0.035, 0.065, 0.5, BLOCK_H=16, BLOCK_W=32)
    return u_new, v_new


def reference(u, v):
    def lap(a):
        return a.roll(1, 0) + a.roll(-1, 0) + a.roll(1, 1) + a.roll(-1, 1) - 4 * a
    r = u * v ** 2
    return u + 0.5 * (0.16 * lap(u) - r + 0.035 * (1 - u)), v + 0.5 * (0.08 * lap(v) + r - (0.035 + 0.065) * v)


TRUTH = "verified"
