"""GGUF: are these a checkpoint's weights, up to what llama.cpp does to them and the quantiser's own error?

`files` opens both; `names` says which tensors of the checkpoint one of the file is made of, and how; `formats` whether
stored codes are the nearest that their block can hold; `verb` asks both of every tensor; `words` is what people and
machines read.
"""
