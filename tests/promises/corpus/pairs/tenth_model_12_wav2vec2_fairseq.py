# DIFFERENT
"""wav2vec 2.0 base in fairseq's style, weight norm of the positional convolution already computed away."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from transformers import Wav2Vec2Config, Wav2Vec2Model

config = Wav2Vec2Config(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, conv_dim=(16, 16), conv_kernel=(5, 3),
    conv_stride=(3, 2), num_feat_extract_layers=2, feat_extract_norm="group", conv_bias=False, num_conv_pos_embeddings=6,
    num_conv_pos_embedding_groups=2, do_stable_layer_norm=False, apply_spec_augment=False, layerdrop=0.0,
)


class Pretrained(nn.Module):
    def __init__(self):
        super().__init__()
        self.w2v = Wav2Vec2Model(config)
        nn.init.normal_(self.w2v.encoder.pos_conv_embed.conv.bias, std=0.1)

    def forward(self, source):
        return self.w2v(source).last_hidden_state


class ConvFeatureExtractor(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        self.convs = nn.ModuleList(layer.conv for layer in theirs.conv_layers)
        self.norm = theirs.conv_layers[0].layer_norm

    def forward(self, x):
        x = x.unsqueeze(1)
        for i, conv in enumerate(self.convs):
            x = conv(x)
            if i == 0:
                x = self.norm(x)
            x = F.gelu(x)
        return x


class SamePad(nn.Module):
    def __init__(self, kernel_size):
        super().__init__()
        self.remove = kernel_size % 2 == 0

    def forward(self, x):
        return x[:, :, 1:] if self.remove else x


class SentenceEncoderLayer(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        a = theirs.attention
        self.self_attn = nn.MultiheadAttention(a.embed_dim, a.num_heads, batch_first=True)
        with torch.no_grad():
            self.self_attn.in_proj_weight.copy_(torch.cat([a.q_proj.weight, a.k_proj.weight, a.v_proj.weight]))
            self.self_attn.in_proj_bias.copy_(torch.cat([a.q_proj.bias, a.k_proj.bias, a.v_proj.bias]))
            self.self_attn.out_proj.load_state_dict(a.out_proj.state_dict())
        self.self_attn_layer_norm, self.final_layer_norm = theirs.layer_norm, theirs.final_layer_norm
        self.fc1, self.fc2 = theirs.feed_forward.intermediate_dense, theirs.feed_forward.output_dense

    def forward(self, x):
        residual = x
        x, _ = self.self_attn(x, x, x, need_weights=False)
        x = self.self_attn_layer_norm(residual + x)
        return self.final_layer_norm(x + self.fc2(F.gelu(self.fc1(x))))


class Wav2Vec2(nn.Module):
    def __init__(self, theirs):
        super().__init__()
        self.feature_extractor = ConvFeatureExtractor(theirs.feature_extractor)
        self.layer_norm = theirs.feature_projection.layer_norm
        self.post_extract_proj = theirs.feature_projection.projection
        k, g, d = config.num_conv_pos_embeddings, config.num_conv_pos_embedding_groups, config.hidden_size
        conv = nn.Conv1d(d, d, k, padding=k // 2, groups=g)
        with torch.no_grad():
            conv.weight.copy_(theirs.encoder.pos_conv_embed.conv.weight)
            conv.bias.copy_(theirs.encoder.pos_conv_embed.conv.bias)
        self.pos_conv = nn.Sequential(conv, SamePad(k), nn.GELU())
        self.encoder_norm = theirs.encoder.layer_norm
        self.layers = nn.ModuleList(SentenceEncoderLayer(layer) for layer in theirs.encoder.layers)

    def forward(self, source):
        x = self.feature_extractor(source).transpose(1, 2)
        x = self.post_extract_proj(self.layer_norm(x))
        x = x + self.pos_conv(x.transpose(1, 2)).transpose(1, 2)
        x = self.encoder_norm(x)
        for layer in self.layers:
            x = layer(x)
        return x


left = Pretrained().eval()
right = Wav2Vec2(left.w2v).eval()
inputs = (torch.randn(2, 64),)
