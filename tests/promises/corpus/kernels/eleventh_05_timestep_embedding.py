import torch
import triton
import triton.language as tl


# diffusers' get_timestep_embedding with flip_sin_to_cos=True, downscale_freq_shift=0
@triton.jit
def timestep_embedding_kernel(t_ptr, out_ptr, half_dim, log_max_period, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < half_dim
    t = tl.load(t_ptr + row).to(tl.float32)
    freq = tl.exp(-log_max_period * i.to(tl.float32) / half_dim)
    arg = t * freq
    out = out_ptr + row * 2 * half_dim
    tl.store(out + i, tl.cos(arg), mask=mask)
    tl.store(out + half_dim + i, tl.sin(arg), mask=mask)


def launch(batch=19, half=40):
    timesteps = torch.randint(0, 1000, (batch,), device="cuda")
    emb = torch.empty(batch, 2 * half, device="cuda")
    timestep_embedding_kernel[(batch,)](timesteps, emb, half, 9.210340371976184, BLOCK=triton.next_power_of_2(half))
    return emb


def reference(timesteps, half):
    exponent = -9.210340371976184 * torch.arange(half, dtype=torch.float32, device=timesteps.device) / half
    arg = timesteps[:, None].float() * torch.exp(exponent)[None, :]
    return torch.cat([torch.cos(arg), torch.sin(arg)], dim=-1)


TRUTH = "verified"
