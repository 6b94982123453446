"""Grok's residual MoE: the routed experts' outputs and the dense MLP's, summed and divided by sqrt(2) (after SGLang)."""
import torch
import triton
import triton.language as tl


@triton.jit
def experts_combine_kernel(
    out_hidden_states,
    moe_hidden_states,
    mlp_hidden_states,
    combine_k: tl.constexpr,
    hidden_dim,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(0)
    start_index_mlp = pid * hidden_dim
    start_index_rmoe = pid * hidden_dim * combine_k
    offsets = tl.arange(0, BLOCK_SIZE)
    mask = offsets < hidden_dim
    combine_k_offsets = tl.arange(0, combine_k)

    moe_x = tl.load(
        moe_hidden_states
        + start_index_rmoe
        + combine_k_offsets[:, None] * hidden_dim
        + offsets[None, :],
        mask=mask[None, :],
        other=0.0,
    )
    moe_x = tl.sum(moe_x, axis=0)
    mlp_x = tl.load(mlp_hidden_states + start_index_mlp + offsets, mask=mask, other=0.0)
    combined_x = (moe_x + mlp_x) / 1.4142135623730951

    tl.store(out_hidden_states + start_index_mlp + offsets, combined_x, mask=mask)


def experts_combine(moe_hidden_states, mlp_hidden_states):
    assert moe_hidden_states.is_contiguous()
    assert mlp_hidden_states.is_contiguous()
    combine_k = moe_hidden_states.shape[1]
    out_hidden_states = torch.empty_like(mlp_hidden_states)
    hidden_dim = mlp_hidden_states.shape[-1]
    bs = mlp_hidden_states.numel() // hidden_dim
    experts_combine_kernel[(bs,)](
        out_hidden_states,
        moe_hidden_states,
        mlp_hidden_states,
        combine_k,
        hidden_dim,
        BLOCK_SIZE=triton.next_power_of_2(hidden_dim),
    )
    return out_hidden_states


def launch(tokens=5, hidden=51):
    moe = torch.randn(tokens, 2, hidden, device="cuda")
    mlp = torch.randn(tokens, hidden, device="cuda")
    return experts_combine(moe, mlp)


def reference(moe, mlp):
    return (moe.sum(1) + mlp) / 2**0.5


TRUTH = "verified"
