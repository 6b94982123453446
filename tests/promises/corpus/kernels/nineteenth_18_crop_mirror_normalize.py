"""Crop, horizontal flip and normalisation of a batch of images; the rows of the source are stepped over by the crop's width, not the image's."""
import torch
import triton
import triton.language as tl


@triton.jit
def crop_mirror_normalize(src, dst, flip, mean, inv_std,
                          C, H, W, crop_h, crop_w, top, left,
                          BLOCK: tl.constexpr):
    b = tl.program_id(2)
    c = tl.program_id(1)
    pix = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = pix < crop_h * crop_w
    y = pix // crop_w
    x = pix % crop_w

    do_flip = tl.load(flip + b)
    x_src = tl.where(do_flip != 0, crop_w - 1 - x, x)
    plane = (b * C + c) * H * W
    v = tl.load(src + plane + (top + y) * crop_w + left + x_src, mask=mask, other=0)
    out = (v.to(tl.float32) - tl.load(mean + c)) * tl.load(inv_std + c)
    tl.store(dst + (b * C + c) * crop_h * crop_w + pix, out, mask=mask)


def launch(B=2, C=3, H=24, W=32):
    crop_h, crop_w, top, left = 14, 18, 5, 7
    images = torch.randint(0, 256, (B, C, H, W), dtype=torch.uint8, device="cuda")
    flip = torch.randint(0, 2, (B,), dtype=torch.int32, device="cuda")
    mean = torch.randn(C, device="cuda")
    inv_std = torch.randn(C, device="cuda")
    out = torch.empty(B, C, crop_h, crop_w, device="cuda", dtype=torch.float32)
    grid = (triton.cdiv(crop_h * crop_w, 128), C, B)
    crop_mirror_normalize[grid](images, out, flip, mean, inv_std, C, H, W, crop_h, crop_w, top, left, BLOCK=128)
    return out


def reference(images, flip, mean, inv_std):
    crop = images[:, :, 5:5 + 14, 7:7 + 18].to(torch.float32)
    crop = torch.where(flip.view(-1, 1, 1, 1).bool(), crop.flip(-1), crop)
    return (crop - mean.view(1, -1, 1, 1)) * inv_std.view(1, -1, 1, 1)

TRUTH = "broken"
