import torch
import triton
import triton.language as tl


# backward of a per-channel affine fake quantisation, straight through inside [qmin, qmax]
@triton.jit
def fake_quant_bwd_kernel(dy_ptr, x_ptr, scale_ptr, zp_ptr, dx_ptr, C, HW, QMIN: tl.constexpr, QMAX: tl.constexpr,
                          BLOCK: tl.constexpr):
    row = tl.program_id(0)            # n * C + c
    c = row % C
    scale = tl.load(scale_ptr + c)
    zp = tl.load(zp_ptr + c).to(tl.float32)
    for start in range(0, HW, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < HW
        x = tl.load(x_ptr + row * HW + offs, mask=mask, other=0.0)
        dy = tl.load(dy_ptr + row * HW + offs, mask=mask, other=0.0)
        q = tl.floor(x / scale + 0.5) + zp
        keep = (q >= QMIN) & (q <= QMAX)
        tl.store(dx_ptr + row * HW + offs, tl.where(keep, dy, 0.0), mask=mask)


def launch(n=3, c=5, hw=150):
    x = 3 * torch.randn(n, c, hw, device="cuda")
    dy = torch.randn(n, c, hw, device="cuda")
    scale = torch.rand(c, device="cuda") * 0.02 + 0.01
    zero_point = torch.randint(-20, 20, (c,), dtype=torch.int32, device="cuda")
    dx = torch.empty_like(x)
    fake_quant_bwd_kernel[(n * c,)](dy, x, scale, zero_point, dx, c, hw, QMIN=-128, QMAX=127, BLOCK=64)
    return dx


def reference(x, dy, scale, zero_point):
    q = torch.floor(x / scale[None, :, None] + 0.5) + zero_point[None, :, None]
    return torch.where((q >= -128) & (q <= 127), dy, torch.zeros_like(dy))


TRUTH = "verified"
