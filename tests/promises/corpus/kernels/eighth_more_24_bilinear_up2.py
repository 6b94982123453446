# broken: the lower neighbour is not held at the last row: the last line of a plane mixes in the next plane (past the end for the last one)
import torch
import triton
import triton.language as tl


# bilinear enlargement by two (align_corners=False): each pixel is 3/4 and 1/4 of its nearest two, by rows and columns
@triton.jit
def up2(x_ptr, y_ptr, H, W, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    r = tl.program_id(1)
    c = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    ok = c < 2 * W
    r_near, c_near = r // 2, c // 2
    r_far = tl.maximum(r_near + 2 * (r % 2) - 1, 0)
    c_far = tl.minimum(tl.maximum(c_near + 2 * (c % 2) - 1, 0), W - 1)
    base = x_ptr + plane * H * W
    a = tl.load(base + r_near * W + c_near, mask=ok)
    b = tl.load(base + r_near * W + c_far, mask=ok)
    d = tl.load(base + r_far * W + c_near, mask=ok)
    e = tl.load(base + r_far * W + c_far, mask=ok)
    y = 0.75 * (0.75 * a + 0.25 * b) + 0.25 * (0.75 * d + 0.25 * e)
    tl.store(y_ptr + plane * 4 * H * W + r * 2 * W + c, y, mask=ok)


def launch(planes=3, H=7, W=20):
    x = torch.randn(planes, H, W, device="cuda")
    y = torch.empty(planes, 2 * H, 2 * W, device="cuda")
    up2[(planes, 2 * H, triton.cdiv(2 * W, 32))](x, y, H, W, BLOCK=32)
    return y


def reference(x):
    return torch.nn.functional.interpolate(x[None], scale_factor=2, mode="bilinear", align_corners=False)[0]


TRUTH = "broken"
