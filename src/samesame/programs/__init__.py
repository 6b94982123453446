"""What a user hands over, before anything is done with it: found by its name, with the lines it stands on, and its
values taken apart."""

# What names a program, as help and refusals say it; capture/targets reads it.
FORMS = (
    "file.py:name, package.module:name, jax:file.py:name, inductor:file.py:name, hf:DIR, vllm:DIR, "
    "or a saved graph (.json, .json.gz, .pt2, .pt, .onnx)"
)
