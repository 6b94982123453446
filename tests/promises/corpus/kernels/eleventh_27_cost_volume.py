import torch
import torch.nn.functional as F
import triton
import triton.language as tl


# stereo matching: correlation cost volume, cost[b, d, y, x] = mean_c left[b, c, y, x] * right[b, c, y, x - d], 0 where x < d
@triton.jit
def cost_volume_kernel(left_ptr, right_ptr, out_ptr, C, D, H, W, BLOCK_W: tl.constexpr):
    pid = tl.program_id(0)                # (b * D + d) * H + y
    y = pid % H
    d = (pid // H) % D
    b = pid // (H * D)
    x = tl.program_id(1) * BLOCK_W + tl.arange(0, BLOCK_W)
    in_row = x < W
    seen = in_row & (x >= d)
    acc = tl.zeros((BLOCK_W,), tl.float32)
    for c in range(C):
        row = ((b * C + c) * H + y) * W
        lf = tl.load(left_ptr + row + x, mask=in_row, other=0.0)
        rt = tl.load(right_ptr + row + x - d, mask=seen, other=0.0)
        acc += lf * rt
    tl.store(out_ptr + pid * W + x, acc / C, mask=in_row)


def launch(batch=2, channels=6, height=5, width=50, max_disp=8):
    left = torch.randn(batch, channels, height, width, device="cuda")
    right = torch.randn(batch, channels, height, width, device="cuda")
    cost = torch.empty(batch, max_disp, height, width, device="cuda")
    cost_volume_kernel[(batch * max_disp * height, triton.cdiv(width, 32))](left, right, cost, channels, max_disp, height, width,
                                                                           BLOCK_W=32)
    return cost


def reference(left, right, max_disp):
    w = left.shape[-1]
    planes = [(left * F.pad(right, (d, 0))[..., :w]).mean(1) for d in range(max_disp)]
    return torch.stack(planes, dim=1)


TRUTH = "verified"
