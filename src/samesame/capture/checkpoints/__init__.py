"""Checkpoints as programs, `hf:DIR` and `vllm:DIR`: `folders` reads or makes them; `transformers` and `vllm`
build their models; `vllm_compiled` takes the graph that vLLM hands to a compiler, and `vllm_tests` tests its kernels.
"""
