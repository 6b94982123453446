"""imgnorm, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _crop_normalize_kernel(
    img_ptr,
    mean_ptr,
    std_ptr,
    out_ptr,
    stride_n,
    stride_h,
    stride_w,
    top,
    left,
    out_h,
    out_w,
    C: tl.constexpr,
    BLOCK: tl.constexpr,
):
    n = tl.program_id(1)
    pix = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = pix < out_h * out_w
    y = pix // out_w
    x = pix % out_w
    src = img_ptr + n * stride_n + (y + top) * stride_h + (x + left) * stride_w
    dst = out_ptr + n * C * out_h * out_w + pix
    for c in tl.static_range(C):
        v = tl.load(src + c, mask=mask, other=0).to(tl.float32) / 255.0
        v = (v - tl.load(mean_ptr + c)) / tl.load(std_ptr + c)
        # BGR -> RGB
        tl.store(dst + (C - 1 - c) * out_h * out_w, v.to(out_ptr.dtype.element_ty), mask=mask)


def center_crop_normalize(img, mean, std, out_h, out_w):
    N, H, W, C = img.shape
    out = torch.empty((N, C, out_h, out_w), dtype=torch.float16, device=img.device)
    top, left = (H - out_h) // 2, (W - out_w) // 2
    grid = lambda meta: (triton.cdiv(out_h * out_w, meta["BLOCK"]), N)
    _crop_normalize_kernel[grid](
        img, mean, std, out, img.stride(0), img.stride(1), img.stride(2), top, left, out_h, out_w, C=C, BLOCK=128
    )
    return out


def launch(batch=2, out_h=14, out_w=18, margin=3):
    img = torch.randint(0, 256, (batch, out_h + 2 * margin, out_w + 2 * margin, 3), dtype=torch.uint8, device="cuda")
    mean = torch.rand(3, device="cuda")
    std = torch.rand(3, device="cuda") + 0.1
    return center_crop_normalize(img, mean, std, out_h, out_w)


def reference(img, mean, std, out_h, out_w, margin):
    x = img[:, margin : margin + out_h, margin : margin + out_w].float() / 255.0
    x = (x - mean) / std
    return x.flip(-1).permute(0, 3, 1, 2).half().contiguous()


TRUTH = "verified"
