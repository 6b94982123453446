"""Positions of the new tokens of each request, packed, after its prefix; and where each request begins."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def compute_position_kernel(positions, extend_start_loc, extend_prefix_lens, extend_seq_lens, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(0).to(tl.int64)
    prefix_len = tl.load(extend_prefix_lens + pid)
    seq_len = tl.load(extend_seq_lens + pid)
    cumsum_start = tl.cast(0, tl.int64)
    for i in range(pid):
        cumsum_start += tl.load(extend_seq_lens + i)
    num_loop = tl.cdiv(seq_len, BLOCK_SIZE)
    for i in range(num_loop):
        offset = tl.arange(0, BLOCK_SIZE) + i * BLOCK_SIZE
        tl.store(positions + cumsum_start + offset, prefix_len + offset, mask=offset < seq_len)
    tl.store(extend_start_loc + pid, cumsum_start)


def launch():
    prefix_lens = torch.tensor([12, 0, 700, 3, 40], dtype=torch.int64)
    seq_lens = torch.tensor([30, 1, 75, 128, 9], dtype=torch.int64)
    total = int(seq_lens.sum())
    positions = torch.empty(total, dtype=torch.int64)
    start_loc = torch.empty(seq_lens.shape[0], dtype=torch.int64)
    compute_position_kernel[(seq_lens.shape[0],)](positions, start_loc, prefix_lens, seq_lens, BLOCK_SIZE=64)
    return positions, start_loc


def reference(positions, prefix_lens, seq_lens):
    ends = torch.cumsum(seq_lens, 0)
    starts = ends - seq_lens
    i = torch.arange(positions.shape[0])
    request = (i[:, None] >= ends[None, :]).sum(1)
    return i - starts[request] + prefix_lens[request], starts
