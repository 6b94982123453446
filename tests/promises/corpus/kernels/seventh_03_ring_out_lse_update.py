"""Ring attention: fold one more block's (out, lse) into the running ones, in place, with sigmoids instead of a maximum."""
import torch
import triton
import triton.language as tl


@triton.jit
def update_out_and_lse_kernel(out_ptr, lse_ptr, block_out_ptr, block_lse_ptr, D, BLOCK_D: tl.constexpr):
    row = tl.program_id(0)
    d = tl.arange(0, BLOCK_D)
    lse = tl.load(lse_ptr + row)
    block_lse = tl.load(block_lse_ptr + row)
    out = tl.load(out_ptr + row * D + d, mask=d < D)
    block_out = tl.load(block_out_ptr + row * D + d, mask=d < D)
    # out - sigmoid(block_lse - lse) * (out - block_out);   lse - logsigmoid(lse - block_lse)
    gate = 1.0 / (1.0 + tl.exp(lse - block_lse))
    out = out - gate * (out - block_out)
    lse = lse + tl.log(1.0 + tl.exp(block_lse - lse))
    tl.store(out_ptr + row * D + d, out, mask=d < D)
    tl.store(lse_ptr + row, lse)


def update_out_and_lse(out, lse, block_out, block_lse):
    D = out.shape[-1]
    update_out_and_lse_kernel[(lse.numel(),)](out, lse, block_out, block_lse, D, BLOCK_D=triton.next_power_of_2(D))


def launch(batch=2, seqlen=5, heads=3, dim=24):
    out = torch.randn(batch, seqlen, heads, dim, device="cuda")
    lse = torch.randn(batch, seqlen, heads, device="cuda")
    block_out = torch.randn(batch, seqlen, heads, dim, device="cuda")
    block_lse = torch.randn(batch, seqlen, heads, device="cuda")
    update_out_and_lse(out, lse, block_out, block_lse)
    return out, lse


def reference(out, lse, block_out, block_lse):
    new = torch.logaddexp(lse, block_lse)
    w0, w1 = (lse - new).exp()[..., None], (block_lse - new).exp()[..., None]
    return w0 * out + w1 * block_out, new


TRUTH = "verified"
