"""The pointwise half of a GRU cell; both products with the weights are cuBLAS's (gi = x W_ih^T, gh = h W_hh^T)."""
import torch
import triton
import triton.language as tl


@triton.jit
def gru_cell_kernel(
    gi_ptr, gh_ptr, b_ih_ptr, b_hh_ptr, h_ptr, out_ptr,
    H, stride_gi, stride_gh, stride_h, stride_o,
    BLOCK_H: tl.constexpr,
):
    b = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H)
    mask = cols < H

    gi = gi_ptr + b * stride_gi
    gh = gh_ptr + b * stride_gh
    i_r = tl.load(gi + cols, mask=mask, other=0.0) + tl.load(b_ih_ptr + cols, mask=mask, other=0.0)
    i_z = tl.load(gi + H + cols, mask=mask, other=0.0) + tl.load(b_ih_ptr + H + cols, mask=mask, other=0.0)
    i_n = tl.load(gi + 2 * H + cols, mask=mask, other=0.0) + tl.load(b_ih_ptr + 2 * H + cols, mask=mask, other=0.0)
    h_r = tl.load(gh + cols, mask=mask, other=0.0) + tl.load(b_hh_ptr + cols, mask=mask, other=0.0)
    h_z = tl.load(gh + H + cols, mask=mask, other=0.0) + tl.load(b_hh_ptr + H + cols, mask=mask, other=0.0)
    h_n = tl.load(gh + 2 * H + cols, mask=mask, other=0.0)
    b_n = tl.load(b_hh_ptr + 2 * H + cols, mask=mask, other=0.0)
    h = tl.load(h_ptr + b * stride_h + cols, mask=mask, other=0.0)

    r = tl.sigmoid(i_r + h_r)
    z = tl.sigmoid(i_z + h_z)
    pre = i_n + r * h_n + b_n
    n = 2.0 * tl.sigmoid(2.0 * pre) - 1.0      # tanh
    tl.store(out_ptr + b * stride_o + cols, (1.0 - z) * n + z * h, mask=mask)


def launch(batch=5, hidden=45):
    gi = torch.randn(batch, 3 * hidden, device="cuda")
    gh = torch.randn(batch, 3 * hidden, device="cuda")
    b_ih = torch.randn(3 * hidden, device="cuda")
    b_hh = torch.randn(3 * hidden, device="cuda")
    h = torch.randn(batch, hidden, device="cuda")
    out = torch.empty_like(h)
    gru_cell_kernel[(batch, triton.cdiv(hidden, 32))](
        gi, gh, b_ih, b_hh, h, out,
        hidden, gi.stride(0), gh.stride(0), h.stride(0), out.stride(0),
        BLOCK_H=32,
    )
    return out


def reference(gi, gh, b_ih, b_hh, h):
    i_r, i_z, i_n = (gi + b_ih).chunk(3, -1)
    h_r, h_z, h_n = (gh + b_hh).chunk(3, -1)
    r = torch.sigmoid(i_r + h_r)
    z = torch.sigmoid(i_z + h_z)
    n = torch.tanh(i_n + r * h_n)
    return (1 - z) * n + z * h


TRUTH = "broken"
# WHY: the hidden bias of the new gate is added after the reset gate: r * h_n + b_hn, where torch's GRU has r * (h_n + b_hn).
