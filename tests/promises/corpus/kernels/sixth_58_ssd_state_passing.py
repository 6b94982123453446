import torch
import triton
import triton.language as tl


@triton.jit
def _state_passing_fwd_kernel(
    states_ptr, out_ptr, final_states_ptr, dA_cs_ptr, initstates_ptr,
    dim, nchunks,
    stride_states_batch, stride_states_chunk, stride_states_head, stride_states_dim,
    stride_out_batch, stride_out_chunk, stride_out_head, stride_out_dim,
    stride_final_batch, stride_final_head, stride_final_dim,
    stride_dA_cs_batch, stride_dA_cs_chunk, stride_dA_cs_head,
    BLOCK_SIZE: tl.constexpr,
):
    pid_b = tl.program_id(axis=1)
    pid_h = tl.program_id(axis=2)
    pid_m = tl.program_id(axis=0)
    states_ptr += pid_b * stride_states_batch + pid_h * stride_states_head
    dA_cs_ptr += pid_b * stride_dA_cs_batch + pid_h * stride_dA_cs_head
    out_ptr += pid_b * stride_out_batch + pid_h * stride_out_head
    final_states_ptr += pid_b * stride_final_batch + pid_h * stride_final_head
    initstates_ptr += pid_b * stride_final_batch + pid_h * stride_final_head

    offs_m = pid_m * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    states_ptrs = states_ptr + offs_m * stride_states_dim
    out_ptrs = out_ptr + offs_m * stride_out_dim
    final_states_ptrs = final_states_ptr + offs_m * stride_final_dim

    states = tl.load(initstates_ptr + offs_m * stride_final_dim, mask=offs_m < dim, other=0.0).to(tl.float32)
    for c in range(nchunks):
        new_states = tl.load(states_ptrs, mask=offs_m < dim, other=0.0).to(tl.float32)
        dA_cs = tl.load(dA_cs_ptr).to(tl.float32)
        scale = tl.exp(dA_cs)
        states = scale * states + new_states
        if c < nchunks - 1:
            tl.store(out_ptrs, states, mask=offs_m < dim)
        else:
            tl.store(out_ptrs, states, mask=offs_m < dim)
            tl.store(final_states_ptrs, states, mask=offs_m < dim)
        states_ptrs += stride_states_chunk
        dA_cs_ptr += stride_dA_cs_chunk
        out_ptrs += stride_out_chunk


def _state_passing_fwd(states, dA_chunk_cumsum, initial_states):
    """out[:, c] is the state that chunk c starts from."""
    batch, nchunks, nheads, dim = states.shape
    out = torch.empty_like(states)
    final_states = torch.empty((batch, nheads, dim), device=states.device, dtype=torch.float32)
    grid = lambda META: (triton.cdiv(dim, META['BLOCK_SIZE']), batch, nheads)
    _state_passing_fwd_kernel[grid](
        states, out, final_states, dA_chunk_cumsum, initial_states,
        dim, nchunks,
        states.stride(0), states.stride(1), states.stride(2), states.stride(3),
        out.stride(0), out.stride(1), out.stride(2), out.stride(3),
        final_states.stride(0), final_states.stride(1), final_states.stride(2),
        dA_chunk_cumsum.stride(0), dA_chunk_cumsum.stride(2), dA_chunk_cumsum.stride(1),
        BLOCK_SIZE=32,
    )
    return out, final_states


def launch(batch=2, nheads=2, dim=40):
    states = torch.randn(batch, 3, nheads, dim)
    dA = -torch.rand(batch, nheads, 3)
    initial = torch.randn(batch, nheads, dim)
    return _state_passing_fwd(states, dA, initial)


def reference(states, dA, initial):
    outs, s = [], initial
    for c in range(3):
        outs.append(s)
        s = s * dA[:, :, c, None].exp() + states[:, c]
    return torch.stack(outs, dim=1), s


TRUTH = "broken"
