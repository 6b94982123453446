"""y = x W^T with W in ELL-like block sparse form: `per_row` dense 16 x 16 blocks for each block row, at given block columns."""
import torch
import triton
import triton.language as tl


@triton.jit
def bsr_linear_kernel(
    x_ptr, blocks_ptr, cols_ptr, bias_ptr, y_ptr,
    M, in_features, out_features, per_row,
    BLOCK_M: tl.constexpr, BS: tl.constexpr,
):
    rm = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    brow = tl.program_id(1)
    rb = tl.arange(0, BS)
    acc = tl.zeros((BLOCK_M, BS), dtype=tl.float32)
    for s in range(per_row):
        slot = brow * per_row + s
        bcol = tl.load(cols_ptr + slot)
        x = tl.load(
            x_ptr + rm[:, None] * in_features + (bcol * BS + rb)[None, :], mask=rm[:, None] < M, other=0.0
        )
        w = tl.load(blocks_ptr + slot * BS * BS + rb[None, :] * BS + rb[:, None])  # transposed
        acc += tl.dot(x, w)
    out = brow * BS + rb
    acc += tl.load(bias_ptr + out)[None, :]
    tl.store(y_ptr + rm[:, None] * out_features + out[None, :], acc, mask=rm[:, None] < M)


class BlockSparseLinear:
    def __init__(self, blocks, cols, bias):
        self.blocks, self.cols, self.bias = blocks, cols, bias

    def __call__(self, x):
        brows, per_row = self.cols.shape
        y = torch.empty(x.shape[0], brows * 16, device=x.device)
        bsr_linear_kernel[(triton.cdiv(x.shape[0], 32), brows)](
            x, self.blocks, self.cols, self.bias, y, x.shape[0], x.shape[1], brows * 16, per_row, BLOCK_M=32, BS=16
        )
        return y


def launch(M=45, brows=3, bcols=4, per_row=2):
    x = torch.randn(M, bcols * 16, device="cuda")
    blocks = torch.randn(brows, per_row, 16, 16, device="cuda")
    cols = torch.randint(0, bcols, (brows, per_row), device="cuda")
    bias = torch.randn(brows * 16, device="cuda")
    return BlockSparseLinear(blocks, cols, bias)(x)


def reference(x, blocks, cols, bias):
    xb = x.unflatten(1, (-1, 16))[:, cols]  # M, brows, per_row, 16
    return torch.einsum("mrsk,rsjk->mrj", xb, blocks).flatten(1) + bias


TRUTH = "verified"
