import torch
import triton
import triton.language as tl


# augmentation: random horizontal flip by flag, then uint8 -> normalised float, NCHW
@triton.jit
def flip_normalize_kernel(img_ptr, flip_ptr, mean_ptr, std_ptr, out_ptr, C, H, W, BLOCK_W: tl.constexpr):
    row = tl.program_id(0)            # (n * C + c) * H + h
    plane = row // H
    c = plane % C
    n = plane // C
    flip = tl.load(flip_ptr + n)
    mean = tl.load(mean_ptr + c)
    std = tl.load(std_ptr + c)
    w = tl.arange(0, BLOCK_W)
    mask = w < W
    src = tl.where(flip != 0, W - 1 - w, w)
    px = tl.load(img_ptr + row * W + src, mask=mask, other=0).to(tl.float32)
    tl.store(out_ptr + row * W + w, (px / 255.0 - mean) / std, mask=mask)


def launch(n=5, c=3, h=9, w=50):
    img = torch.randint(0, 256, (n, c, h, w), dtype=torch.uint8, device="cuda")
    flip = torch.randint(0, 2, (n,), dtype=torch.int32, device="cuda")
    mean = torch.rand(c, device="cuda")
    std = torch.rand(c, device="cuda") + 0.5
    out = torch.empty(n, c, h, w, device="cuda")
    flip_normalize_kernel[(n * c * h,)](img, flip, mean, std, out, c, h, w, BLOCK_W=triton.next_power_of_2(w))
    return out


def reference(img, flip, mean, std):
    x = (img.float() / 255 - mean[:, None, None]) / std[:, None, None]
    return torch.where((flip != 0)[:, None, None, None], x.flip(-1), x)


TRUTH = "verified"
