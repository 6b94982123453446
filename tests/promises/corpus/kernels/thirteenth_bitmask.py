"""bitmask, as somebody wrote it who knew the documentation alone."""
import torch
import triton
import triton.language as tl


@triton.jit
def _apply_token_bitmask_kernel(
    logits_ptr,
    bitmask_ptr,
    indices_ptr,
    vocab_size,
    logits_stride,
    bitmask_stride,
    BLOCK_SIZE: tl.constexpr,
):
    req = tl.program_id(0)
    block = tl.program_id(1)
    row = tl.load(indices_ptr + req).to(tl.int64)
    offs = block * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    word_offs = block * (BLOCK_SIZE // 32) + tl.arange(0, BLOCK_SIZE // 32)
    words = tl.load(
        bitmask_ptr + req * bitmask_stride + word_offs,
        mask=word_offs < tl.cdiv(vocab_size, 32),
        other=0,
    )
    banned = ((words[:, None] >> tl.arange(0, 32)[None, :]) & 1) == 0
    banned = banned.reshape(BLOCK_SIZE)
    tl.store(
        logits_ptr + row * logits_stride + offs,
        -float("inf"),
        mask=(offs < vocab_size) & banned,
    )


def apply_token_bitmask_inplace(logits, bitmask, indices):
    vocab_size = logits.shape[-1]
    grid = lambda meta: (indices.shape[0], triton.cdiv(vocab_size, meta["BLOCK_SIZE"]))
    _apply_token_bitmask_kernel[grid](
        logits, bitmask, indices, vocab_size, logits.stride(0), bitmask.stride(0), BLOCK_SIZE=256
    )
    return logits


def launch(batch=6, constrained=4, vocab=1000):
    logits = torch.randn(batch, vocab, device="cuda")
    bitmask = torch.randint(
        -(2**31), 2**31 - 1, (constrained, (vocab + 31) // 32), dtype=torch.int32, device="cuda"
    )
    indices = torch.randperm(batch, device="cuda")[:constrained]
    return apply_token_bitmask_inplace(logits, bitmask, indices)


def reference(logits, bitmask, indices):
    bits = (bitmask[:, :, None] >> torch.arange(32, device=logits.device)) & 1
    allowed = bits.flatten(1)[:, : logits.shape[1]] != 0
    rows = logits[indices].masked_fill(~allowed, float("-inf"))
    return logits.index_copy(0, indices, rows)


TRUTH = "verified"
