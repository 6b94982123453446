"""Second stage of split-KV decoding: merge as many splits as each request has, with an attention sink for each head."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _fwd_kernel_stage2(
    Mid_O,
    Mid_O_1,
    O,
    kv_indptr,
    num_kv_splits,
    sink_ptr,
    stride_mid_ob,
    stride_mid_oh,
    stride_mid_os,
    stride_obs,
    stride_oh,
    MAX_KV_SPLITS: tl.constexpr,
    MIN_BLOCK_KV: tl.constexpr,
    BLOCK_DV: tl.constexpr,
    Lv: tl.constexpr,
):
    cur_batch = tl.program_id(0)
    cur_head = tl.program_id(1)
    cur_batch_seq_len = tl.load(kv_indptr + cur_batch + 1) - tl.load(kv_indptr + cur_batch)
    kv_splits = tl.load(num_kv_splits + cur_batch)

    offs_d = tl.arange(0, BLOCK_DV)
    mask_d = offs_d < Lv
    e_sum = 0.0
    e_max = -float("inf")
    acc = tl.zeros([BLOCK_DV], dtype=tl.float32)
    offs_v = cur_batch * stride_mid_ob + cur_head * stride_mid_oh + offs_d
    offs_logic = (cur_batch * stride_mid_ob + cur_head * stride_mid_oh) // Lv
    kv_len_per_split = tl.cdiv(tl.cdiv(cur_batch_seq_len, kv_splits), MIN_BLOCK_KV) * MIN_BLOCK_KV

    for split_kv_id in range(0, MAX_KV_SPLITS):
        split_kv_start = kv_len_per_split * split_kv_id
        split_kv_end = tl.minimum(split_kv_start + kv_len_per_split, cur_batch_seq_len)
        if split_kv_end > split_kv_start:
            tv = tl.load(Mid_O + offs_v + split_kv_id * stride_mid_os, mask=mask_d, other=0.0)
            tlogic = tl.load(Mid_O_1 + offs_logic + split_kv_id * stride_mid_os // Lv)
            n_e_max = tl.maximum(tlogic, e_max)
            old_scale = tl.exp(e_max - n_e_max)
            acc *= old_scale
            exp_logic = tl.exp(tlogic - n_e_max)
            acc += exp_logic * tv
            e_sum = e_sum * old_scale + exp_logic
            e_max = n_e_max

    cur_sink = tl.load(sink_ptr + cur_head)
    e_sum += tl.exp(cur_sink - e_max)
    tl.store(O + cur_batch * stride_obs + cur_head * stride_oh + offs_d, acc / e_sum, mask=mask_d)


def launch():
    batch, heads, splits, dv = 3, 5, 8, 48
    seq_lens = torch.tensor([70, 9, 200], dtype=torch.int32)
    kv_indptr = torch.zeros(batch + 1, dtype=torch.int32)
    kv_indptr[1:] = torch.cumsum(seq_lens, 0)
    num_kv_splits = torch.tensor([4, 1, 8], dtype=torch.int32)
    mid_o = torch.randn(batch, heads, splits, dv)
    mid_lse = torch.randn(batch, heads, splits)
    sinks = torch.randn(heads)
    o = torch.empty(batch, heads, dv)
    _fwd_kernel_stage2[(batch, heads)](
        mid_o,
        mid_lse,
        o,
        kv_indptr,
        num_kv_splits,
        sinks,
        mid_o.stride(0),
        mid_o.stride(1),
        mid_o.stride(2),
        o.stride(0),
        o.stride(1),
        MAX_KV_SPLITS=splits,
        MIN_BLOCK_KV=32,
        BLOCK_DV=triton.next_power_of_2(dv),
        Lv=dv,
    )
    return o


def reference(mid_o, mid_lse, kv_indptr, num_kv_splits, sinks):
    lens = kv_indptr[1:] - kv_indptr[:-1]
    per = (lens + num_kv_splits - 1) // num_kv_splits
    per = (per + 31) // 32 * 32
    start = per[:, None] * torch.arange(mid_lse.shape[2])[None, :]
    live = (start < lens[:, None])[:, None, :]
    w = torch.where(live, torch.exp(mid_lse), torch.zeros_like(mid_lse))
    total = w.sum(-1, keepdim=True) + torch.exp(sinks)[None, :, None]
    return ((w / total)[..., None] * mid_o).sum(2)
