import torch
import triton
import triton.language as tl


@triton.jit
def merge_attn_states_kernel(
    output,  # [NUM_TOKENS, NUM_HEADS, HEAD_SIZE]
    output_lse,  # [NUM_HEADS, NUM_TOKENS]
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

    max_lse = tl.maximum(p_lse, s_lse)
    p_lse = p_lse - max_lse
    s_lse = s_lse - max_lse
    p_se = tl.exp(p_lse)
    s_se = tl.exp(s_lse)
    out_se = p_se + s_se

    if OUTPUT_LSE:
        out_lse = tl.log(out_se) + max_lse
        tl.store(output_lse + head_idx * num_tokens + token_idx, out_lse)

    head_arange = tl.arange(0, PADDED_HEAD_SIZE)
    head_mask = head_arange < HEAD_SIZE
    base = token_idx * num_heads * HEAD_SIZE + head_idx * HEAD_SIZE
    p_out = tl.load(prefix_output + base + head_arange, mask=head_mask)
    s_out = tl.load(suffix_output + base + head_arange, mask=head_mask)

    p_scale = p_se / out_se
    s_scale = s_se / out_se
    tl.store(output + base + head_arange, p_out * p_scale + s_out * s_scale, mask=head_mask)


def merge_attn_states(output, prefix_output, prefix_lse, suffix_output, suffix_lse, output_lse=None):
    num_tokens, num_query_heads, head_size = output.shape
    merge_attn_states_kernel[(num_tokens, num_query_heads)](
        output, output_lse, prefix_output, prefix_lse, suffix_output, suffix_lse,
        head_size, triton.next_power_of_2(head_size), output_lse is not None)


def launch(tokens=10, heads=3):
    prefix_output = torch.randn(tokens, heads, 24)
    suffix_output = torch.randn(tokens, heads, 24)
    prefix_lse = torch.randn(heads, tokens)
    suffix_lse = torch.randn(heads, tokens)
    output = torch.empty_like(prefix_output)
    output_lse = torch.empty_like(prefix_lse)
    merge_attn_states(output, prefix_output, prefix_lse, suffix_output, suffix_lse, output_lse)
    return output, output_lse


def reference(prefix_output, suffix_output, prefix_lse, suffix_lse):
    lse = torch.logaddexp(prefix_lse, suffix_lse)
    a = (prefix_lse - lse).exp().t().unsqueeze(-1)
    b = (suffix_lse - lse).exp().t().unsqueeze(-1)
    return a * prefix_output + b * suffix_output, lse


TRUTH = "verified"
