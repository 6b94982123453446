"""Data parallel fine-tuning of a tiny Llama: the loss is a sum over tokens divided by their number on all ranks."""
import torch
import torch.distributed as dist
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

TRUTH = "refines"
WHY = "num_items_in_batch is the global count of labels after the shift, so the summed gradients are those of the global mean"

world_size = 2
relations = {"input_ids": "shard(0)", "labels": "shard(0)"}


def tiny():
    torch.manual_seed(34)
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=17, hidden_size=8, intermediate_size=12, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=16, tie_word_embeddings=False, use_cache=False,
        attn_implementation="eager",
    )).eval()


class Tune(nn.Module):
    def __init__(self):
        super().__init__()
        self.lm = tiny()

    def reduce(self, t):
        return t

    def forward(self, input_ids, labels):
        self.lm.zero_grad()
        count = self.reduce((labels[:, 1:] != -100).sum())
        loss = self.lm(input_ids=input_ids, labels=labels, num_items_in_batch=count).loss
        loss.backward()
        grads = {name: self.reduce(p.grad.clone()) for name, p in self.lm.named_parameters()}
        return {"loss": self.reduce(loss.detach().clone()), "grads": grads}


class TuneSpread(Tune):
    def reduce(self, t):
        dist.all_reduce(t)
        return t


def sequential():
    return Tune()


def distributed(rank, world_size):
    return TuneSpread()


def inputs():
    torch.manual_seed(35)
    ids = torch.randint(0, 17, (4, 5))
    labels = ids.clone()
    labels[0, :4] = -100
    labels[1, :2] = -100
    labels[3, :1] = -100
    return {"input_ids": ids, "labels": labels}
