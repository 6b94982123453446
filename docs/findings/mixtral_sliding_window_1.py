"""mixtral with sliding_window = 1: Transformers and vLLM differ."""
import os, tempfile, torch
os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
from transformers import AutoConfig, AutoModelForCausalLM
from vllm import LLM, SamplingParams
config = AutoConfig.for_model(**{
    "model_type": "mixtral", "head_dim": 32, "hidden_size": 128, "intermediate_size": 96,
    "max_position_embeddings": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 2,
    "num_local_experts": 4, "sliding_window": 1, "vocab_size": 128})
torch.manual_seed(0)
model = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager").eval()
with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
    for p in model.parameters():                        # biases and norms too: zeros and ones would hide them
        p.copy_(torch.randn_like(p) * p.shape[-1] ** -0.5 if p.dim() > 1 else p + 0.2 * torch.randn_like(p))
    tokens = torch.randint(3, config.vocab_size, (12,)).tolist()
    model.save_pretrained(folder)
    llm = LLM(folder, enforce_eager=True, skip_tokenizer_init=True, dtype="float32", max_logprobs=-1,
              logprobs_mode="raw_logits")
    settings = SamplingParams(max_tokens=2, logprobs=-1, temperature=0, ignore_eos=True, detokenize=False)
    [out] = llm.generate([{"prompt_token_ids": tokens}], settings)[0].outputs
    prompt = model(torch.tensor([tokens]), use_cache=True)
    then = model(torch.tensor([out.token_ids[:1]]), past_key_values=prompt.past_key_values)
left = torch.stack([prompt.logits[0, -1], then.logits[0, -1]])         # after the prompt, and one token later
right = torch.tensor([[step[i].logprob for i in range(config.vocab_size)] for step in out.logprobs])
for when, a, b in zip(("after the prompt", "one token later"), left, right):
    print(when, "Transformers", a[:4], "vLLM", b[:4], "largest difference", (a - b).abs().max().item())
