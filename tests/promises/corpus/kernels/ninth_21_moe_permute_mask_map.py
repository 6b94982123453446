"""Tokens to their experts' rows by a row map (Transformer Engine's permute with mask), with their probabilities."""
import torch
import triton
import triton.language as tl


@triton.jit
def permute_kernel(
    input_ptr, output_ptr, row_id_map_ptr, probs_ptr, permuted_probs_ptr,
    num_tokens, num_experts, hidden_size,
    stride_input_token, stride_output_token, stride_probs_token,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    cur_pos = 0
    while cur_pos < hidden_size:
        cur_off = cur_pos + tl.arange(0, BLOCK_SIZE)
        mask = cur_off < hidden_size
        inp = tl.load(input_ptr + pid * stride_input_token + cur_off, mask=mask)
        for expert_idx in range(num_experts):
            dst_row = tl.load(row_id_map_ptr + expert_idx * num_tokens + pid)
            if dst_row != -1:
                tl.store(output_ptr + dst_row * stride_output_token + cur_off, inp, mask=mask)
                if cur_pos == 0:
                    prob = tl.load(probs_ptr + pid * stride_probs_token + expert_idx)
                    tl.store(permuted_probs_ptr + dst_row, prob)
        cur_pos += BLOCK_SIZE


def launch(tokens=7, experts=5, hidden=37, topk=2):
    x = torch.randn(tokens, hidden, device="cuda")
    probs = torch.rand(tokens, experts, device="cuda")
    routing_map = torch.zeros(tokens, experts, dtype=torch.bool, device="cuda")
    routing_map.scatter_(1, probs.topk(topk, dim=1).indices, True)
    flat = routing_map.T.reshape(-1)
    row_id_map = torch.where(flat, torch.cumsum(flat, 0) - 1, -1).reshape(experts, tokens)
    rows = tokens * topk
    out = torch.zeros(rows, hidden, device="cuda")
    permuted_probs = torch.zeros(rows, device="cuda")
    permute_kernel[(tokens,)](
        x, out, row_id_map, probs, permuted_probs,
        tokens, experts, hidden,
        x.stride(0), out.stride(0), probs.stride(0),
        BLOCK_SIZE=32,
    )
    return out, permuted_probs


launch.assume = ["distinct(row_id_map[row_id_map >= 0])", "0 <= row_id_map < topk * tokens or row_id_map == -1"]


def reference(x, probs, row_id_map, topk):
    rows = x.shape[0] * topk
    target = row_id_map.T                                         # tokens x experts
    hit = target[None] == torch.arange(rows, device=x.device)[:, None, None]
    return hit.any(-1).to(x.dtype) @ x, (hit * probs).sum((1, 2))


TRUTH = "verified"
