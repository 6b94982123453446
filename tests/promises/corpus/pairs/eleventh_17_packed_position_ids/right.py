import torch


EOS = 0


def position_ids(input_ids):
    ended = (input_ids == EOS).long()
    document = ended.cumsum(1) - ended
    same = document[:, :, None] == document[:, None, :]
    return same.tril(-1).sum(-1)


def inputs():
    return (torch.tensor([[3, 5, 0, 2, 7, 1, 0, 4], [2, 0, 6, 6, 1, 3, 8, 2]]),)
