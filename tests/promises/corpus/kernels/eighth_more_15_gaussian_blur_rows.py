import torch
import triton
import triton.language as tl


# horizontal pass of a separable blur: five taps, the border pixel repeated
@triton.jit
def blur_rows(img_ptr, taps_ptr, out_ptr, W, RADIUS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ok = col < W
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for k in tl.static_range(2 * RADIUS + 1):
        src = tl.minimum(tl.maximum(col + k - RADIUS, 0), W - 1)
        acc += tl.load(taps_ptr + k) * tl.load(img_ptr + row * W + src, mask=ok, other=0.0)
    tl.store(out_ptr + row * W + col, acc, mask=ok)


def launch(height=8, width=45):
    img = torch.rand(height, width, device="cuda")
    taps = torch.tensor([0.0625, 0.25, 0.375, 0.25, 0.0625], device="cuda")
    out = torch.empty_like(img)
    blur_rows[(height, triton.cdiv(width, 32))](img, taps, out, width, RADIUS=2, BLOCK=32)
    return out


def reference(img, taps):
    padded = torch.nn.functional.pad(img[None], (2, 2), mode="replicate")[0]
    W = img.shape[1]
    return sum(taps[k] * padded[:, k : k + W] for k in range(5))


TRUTH = "verified"
