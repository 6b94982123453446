import torch
import torch.nn.functional as F
import triton
import triton.language as tl


# STFT front end: overlapping frames times a window; the end of a signal is padded with zeros
@triton.jit
def frame_window_kernel(x_ptr, win_ptr, out_ptr, length, n_frames, win, hop, BLOCK: tl.constexpr):
    frame = tl.program_id(0)
    b = tl.program_id(1)
    j = tl.arange(0, BLOCK)
    mask = j < win
    pos = frame * hop + j
    x = tl.load(x_ptr + b * length + pos, mask=mask, other=0.0)
    w = tl.load(win_ptr + j, mask=mask, other=0.0)
    tl.store(out_ptr + (b * n_frames + frame) * win + j, x * w, mask=mask)


def launch(batch=3, length=500, win=48, hop=20):
    x = torch.randn(batch, length, device="cuda")
    window = torch.rand(win, device="cuda")
    n_frames = triton.cdiv(length, hop)
    frames = torch.empty(batch, n_frames, win, device="cuda")
    frame_window_kernel[(n_frames, batch)](x, window, frames, length, n_frames, win, hop, BLOCK=triton.next_power_of_2(win))
    return frames


def reference(x, window, hop):
    length, win = x.shape[1], window.shape[0]
    n_frames = (length + hop - 1) // hop
    padded = F.pad(x, (0, (n_frames - 1) * hop + win - length))
    return padded.unfold(1, win, hop) * window


TRUTH = "broken"
