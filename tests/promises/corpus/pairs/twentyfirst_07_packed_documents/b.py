"""The same, in a vectorised form without cummax and writes in place (for export)."""
import torch
from torch.nn import functional as F

EOS = 2


def prepare(input_ids):
    b, t = input_ids.shape
    ends = (input_ids == EOS).to(torch.int64)
    segment_ids = torch.cumsum(ends, 1) - ends + 1            # documents ended before this token
    pos = torch.arange(t, device=input_ids.device)
    earlier = pos[:, None] >= pos[None, :]
    same = (segment_ids[:, :, None] - segment_ids[:, None, :]) == 0
    mask = torch.logical_and(same, earlier[None])
    position_ids = mask.sum(-1) - 1                           # tokens of the own document up to here
    following = F.pad(input_ids[:, 1:], (0, 1), value=-100)
    labels = torch.where(ends.bool(), torch.full_like(following, -100), following)
    return {"position_ids": position_ids, "segment_ids": segment_ids, "mask": mask[:, None], "labels": labels}
