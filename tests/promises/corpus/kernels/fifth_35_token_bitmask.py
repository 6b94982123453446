"""Grammar bitmask: logits whose bit is zero become minus infinity, on the rows that have a grammar."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def apply_token_bitmask_inplace_kernel(
    logits_ptr,
    bitmask_ptr,
    indices_ptr,
    num_rows,
    vocab_size,
    logits_strides,
    bitmask_strides,
    NUM_PROGRAMS: tl.constexpr,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    num_blocks = tl.cdiv(vocab_size, BLOCK_SIZE)
    for work_id in tl.range(pid, num_rows * num_blocks, NUM_PROGRAMS):
        row_id = work_id // num_blocks
        block_offset = (work_id % num_blocks) * BLOCK_SIZE
        batch_id = tl.load(indices_ptr + row_id)
        offsets = block_offset + tl.arange(0, BLOCK_SIZE)
        bitmask_offsets = block_offset // 32 + tl.arange(0, BLOCK_SIZE // 32)
        vocab_mask = offsets < vocab_size
        packed = tl.load(bitmask_ptr + batch_id * bitmask_strides + bitmask_offsets, mask=bitmask_offsets < bitmask_strides, other=0)
        bits = ((packed[:, None] >> (tl.arange(0, 32)[None, :])) & 1) == 0
        bits = bits.reshape(BLOCK_SIZE)
        tl.store(logits_ptr + batch_id * logits_strides + offsets, -float("inf"), vocab_mask & bits)


def launch():
    batch, vocab = 7, 410
    logits = torch.randn(batch, vocab)
    words = triton.cdiv(vocab, 32)
    bitmask = torch.randint(-(2**31), 2**31, (batch, words), dtype=torch.int32)
    indices = torch.arange(0, batch, 2, dtype=torch.int32)
    rows = indices.shape[0]
    apply_token_bitmask_inplace_kernel[(3,)](
        logits, bitmask, indices, rows, vocab, logits.stride(0), bitmask.stride(0), NUM_PROGRAMS=3, BLOCK_SIZE=128
    )
    return logits


def reference(logits, bitmask, indices):
    batch, vocab = logits.shape
    token = torch.arange(vocab)
    bit = (bitmask[:, token // 32] >> (token % 32).to(torch.int32)) & 1
    has = (torch.arange(batch)[:, None] == indices[None, :]).any(1)
    return torch.where((bit == 0) & has[:, None], torch.full_like(logits, float("-inf")), logits)
