"""col2im (torch's fold): columns of K x K patches added up into an image."""
import torch
import triton
import triton.language as tl


@triton.jit
def col2im_kernel(
    col_ptr, img_ptr,
    C, H, W, OH, OW,
    K: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
    BLOCK_L: tl.constexpr,
):
    pid_bc = tl.program_id(0)       # batch * channel
    pid_k = tl.program_id(1)        # place within the patch
    pid_l = tl.program_id(2)
    kh, kw = pid_k // K, pid_k % K

    l = pid_l * BLOCK_L + tl.arange(0, BLOCK_L)
    oh, ow = l // OW, l % OW
    ih = oh * STRIDE - PAD + kh
    iw = ow * STRIDE - PAD + kw
    mask = (l < OH * OW) & (ih >= 0) & (ih < H) & (iw >= 0) & (iw < W)

    col = tl.load(col_ptr + (pid_bc * K * K + pid_k) * OH * OW + l, mask=mask, other=0.0)
    dst = img_ptr + pid_bc * H * W + ih * W + iw
    acc = tl.load(dst, mask=mask, other=0.0)
    tl.store(dst, acc + col, mask=mask)


def launch(batch=3, channels=5, H=9, W=11):
    K, S, P = 3, 1, 1
    OH = (H + 2 * P - K) // S + 1
    OW = (W + 2 * P - K) // S + 1
    cols = torch.randn(batch, channels * K * K, OH * OW, device="cuda")
    img = torch.zeros(batch, channels, H, W, device="cuda")
    grid = lambda m: (batch * channels, K * K, triton.cdiv(OH * OW, m["BLOCK_L"]))
    col2im_kernel[grid](cols, img, channels, H, W, OH, OW, K=K, STRIDE=S, PAD=P, BLOCK_L=64)
    return img


def reference(cols, H, W):
    return torch.nn.functional.fold(cols, (H, W), kernel_size=3, padding=1)


TRUTH = "broken"
# WHY: programs of different patch places (axis 1) add into the same pixels by load, add and store, without an atomic:
# a race; updates are lost on a GPU (one program after the other, as in the interpreter, gives the right sum).
