import torch
import triton
import triton.language as tl


# depthwise convolution, 3 x 3 with a border of zeros, and a bias
@triton.jit
def depthwise3x3(x_ptr, w_ptr, b_ptr, y_ptr, C, H, W, BLOCK: tl.constexpr):
    plane = tl.program_id(0)
    p = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = p < H * W
    r, c = p // W, p % W
    ch = plane % C
    acc = tl.zeros([BLOCK], dtype=tl.float32) + tl.load(b_ptr + ch)
    for dr in tl.static_range(3):
        for dc in tl.static_range(3):
            rr, cc = r + dr - 1, c + dc - 1
            ok = inside & (rr >= 0) & (rr < H) & (cc >= 0) & (cc < W)
            v = tl.load(x_ptr + plane * H * W + rr * W + cc, mask=ok, other=0.0)
            acc += v * tl.load(w_ptr + ch * 9 + dr * 3 + dc)
    tl.store(y_ptr + plane * H * W + p, acc, mask=inside)


def launch(batch=2, channels=4, height=9, width=11):
    x = torch.randn(batch, channels, height, width, device="cuda")
    weight = torch.randn(channels, 1, 3, 3, device="cuda")
    bias = torch.randn(channels, device="cuda")
    y = torch.empty_like(x)
    grid = (batch * channels, triton.cdiv(height * width, 64))
    depthwise3x3[grid](x, weight, bias, y, channels, height, width, BLOCK=64)
    return y


def reference(x, weight, bias):
    return torch.nn.functional.conv2d(x, weight, bias, padding=1, groups=x.shape[1])


TRUTH = "verified"
