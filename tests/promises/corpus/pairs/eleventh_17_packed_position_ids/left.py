import torch


EOS = 0


def position_ids(input_ids):
    b, t = input_ids.shape
    start = torch.ones(b, t, dtype=torch.bool, device=input_ids.device)
    start[:, 1:] = input_ids[:, :-1] == EOS
    index = torch.arange(t, device=input_ids.device).expand(b, t)
    return index - torch.where(start, index, 0).cummax(dim=1).values


def inputs():
    return (torch.tensor([[3, 5, 0, 2, 7, 1, 0, 4], [2, 0, 6, 6, 1, 3, 8, 2]]),)
