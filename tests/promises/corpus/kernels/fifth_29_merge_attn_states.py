"""Merge two partial attention results by their log-sum-exps, and give the merged log-sum-exp."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def merge_attn_states_kernel(
    output,  # [tokens, heads, head_size]
    output_lse,  # [heads, tokens]
    prefix_output,
    prefix_lse,
    suffix_output,
    suffix_lse,
    HEAD_SIZE: tl.constexpr,
    PADDED_HEAD_SIZE: tl.constexpr,
    OUTPUT_LSE: tl.constexpr,
):
    token_idx = tl.program_id(0)
    num_tokens = tl.num_programs(0)
    head_idx = tl.program_id(1)
    num_heads = tl.num_programs(1)

    p_lse = tl.load(prefix_lse + head_idx * num_tokens + token_idx)
    s_lse = tl.load(suffix_lse + head_idx * num_tokens + token_idx)
    p_lse = float("-inf") if p_lse == float("inf") else p_lse
    s_lse = float("-inf") if s_lse == float("inf") else s_lse

    max_lse = tl.maximum(p_lse, s_lse)
    p_se = tl.exp(p_lse - max_lse)
    s_se = tl.exp(s_lse - max_lse)
    out_se = p_se + s_se
    if OUTPUT_LSE:
        tl.store(output_lse + head_idx * num_tokens + token_idx, tl.log(out_se) + max_lse)

    head_arange = tl.arange(0, PADDED_HEAD_SIZE)
    head_mask = head_arange < HEAD_SIZE
    base = token_idx * num_heads * HEAD_SIZE + head_idx * HEAD_SIZE
    p_out = tl.load(prefix_output + base + head_arange, mask=head_mask)
    s_out = tl.load(suffix_output + base + head_arange, mask=head_mask)
    out = p_out * (p_se / out_se) + s_out * (s_se / out_se)
    tl.store(output + base + head_arange, out, mask=head_mask)


def launch(num_tokens: int = 21, num_heads: int = 6, head_size: int = 80):
    prefix_output = torch.randn(num_tokens, num_heads, head_size)
    suffix_output = torch.randn(num_tokens, num_heads, head_size)
    prefix_lse = torch.randn(num_heads, num_tokens) + 2
    suffix_lse = torch.randn(num_heads, num_tokens)
    output = torch.empty_like(prefix_output)
    output_lse = torch.empty_like(prefix_lse)
    merge_attn_states_kernel[(num_tokens, num_heads)](
        output,
        output_lse,
        prefix_output,
        prefix_lse,
        suffix_output,
        suffix_lse,
        HEAD_SIZE=head_size,
        PADDED_HEAD_SIZE=triton.next_power_of_2(head_size),
        OUTPUT_LSE=True,
    )
    return output, output_lse


def reference(prefix_output, prefix_lse, suffix_output, suffix_lse):
    lse = torch.logaddexp(prefix_lse, suffix_lse)
    p = torch.exp(prefix_lse - lse).transpose(0, 1).unsqueeze(-1)
    s = torch.exp(suffix_lse - lse).transpose(0, 1).unsqueeze(-1)
    return prefix_output * p + suffix_output * s, lse
