"""Image preprocessing: uint8 (height, width, 3) to float (3, height, width), normalised by mean and std of each channel."""
import torch
import triton
import triton.language as tl


@triton.jit
def hwc_to_chw_kernel(img_ptr, out_ptr, mean_ptr, std_ptr, H, W, BH: tl.constexpr, BW: tl.constexpr):
    y = tl.program_id(0) * BH + tl.arange(0, BH)
    x = tl.program_id(1) * BW + tl.arange(0, BW)
    inside = y[:, None] < H
    for c in tl.static_range(3):
        pix = tl.load(img_ptr + (y[:, None] * W + x[None, :]) * 3 + c, mask=inside, other=0)
        val = pix.to(tl.float32) / 255.0
        val = (val - tl.load(mean_ptr + c)) / tl.load(std_ptr + c)
        tl.store(out_ptr + c * H * W + y[:, None] * W + x[None, :], val, mask=inside)


def launch(H=20, W=37):
    image = torch.randint(0, 256, (H, W, 3), dtype=torch.uint8, device="cuda")
    mean = torch.rand(3, device="cuda")
    std = torch.rand(3, device="cuda") + 0.1
    out = torch.empty(3, H, W, device="cuda")
    hwc_to_chw_kernel[(triton.cdiv(H, 8), triton.cdiv(W, 16))](image, out, mean, std, H, W, BH=8, BW=16)
    return out


def reference(image, mean, std):
    x = image.permute(2, 0, 1).float() / 255
    return (x - mean[:, None, None]) / std[:, None, None]


# columns right of the image are not masked: they write the next row's or channel's pixels, and behind the end
TRUTH = "broken"
