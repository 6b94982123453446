"""Second step of token attention: softmax over each request's own stretch of a packed score matrix."""
import torch
import triton
import triton.language as tl


@triton.jit
def _fwd_kernel_token_softmax(
    Logics, B_Start_Loc, B_Seqlen, Prob_Out,
    stride_logic_h, stride_logic_bs,
    stride_prob_h, stride_prob_bs,
    BLOCK_SIZE: tl.constexpr,
):
    cur_batch = tl.program_id(0)
    cur_head = tl.program_id(1)
    col_offsets = tl.arange(0, BLOCK_SIZE)
    cur_batch_seq_len = tl.load(B_Seqlen + cur_batch)
    cur_batch_in_all_start_index = tl.load(B_Start_Loc + cur_batch)

    row = tl.load(
        Logics + cur_head * stride_logic_h + (cur_batch_in_all_start_index + col_offsets) * stride_logic_bs,
        mask=col_offsets < cur_batch_seq_len, other=-float("inf"),
    ).to(tl.float32)
    row_minus_max = row - tl.max(row, axis=0)
    numerator = tl.exp(row_minus_max)
    denominator = tl.sum(numerator, axis=0)
    softmax_output = numerator / denominator
    tl.store(
        Prob_Out + cur_head * stride_prob_h + (cur_batch_in_all_start_index + col_offsets) * stride_prob_bs,
        softmax_output, mask=col_offsets < cur_batch_seq_len,
    )


@torch.no_grad()
def token_softmax_fwd(Logics, B_Start_Loc, B_Seqlen, Prob_Out, max_input_len):
    BLOCK_SIZE = triton.next_power_of_2(max_input_len)
    batch, head_num = B_Start_Loc.shape[0], Logics.shape[0]
    _fwd_kernel_token_softmax[(batch, head_num)](
        Logics, B_Start_Loc, B_Seqlen, Prob_Out,
        Logics.stride(0), Logics.stride(1), Prob_Out.stride(0), Prob_Out.stride(1),
        BLOCK_SIZE=BLOCK_SIZE, num_warps=4,
    )


def launch(batch=4, heads=3, max_len=19):
    seqlen = torch.randint(1, max_len + 1, (batch,), dtype=torch.int32, device="cuda")
    start_loc = torch.cumsum(seqlen, 0) - seqlen
    logits = torch.randn(heads, batch * max_len, device="cuda")
    prob = torch.zeros(heads, batch * max_len, device="cuda")
    token_softmax_fwd(logits, start_loc, seqlen, prob, max_len)
    return prob


def reference(logits, start_loc, seqlen):
    pos = torch.arange(logits.shape[1], device=logits.device)
    inside = (pos >= start_loc[:, None]) & (pos < (start_loc + seqlen)[:, None])       # [B, total]
    scores = logits[:, None, :].masked_fill(~inside, float("-inf"))                    # [H, B, total]
    return torch.softmax(scores, dim=-1).sum(dim=1)


TRUTH = "verified"
