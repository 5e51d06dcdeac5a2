"""Writes a model of llama.cpp with random weights: a byte is a token."""

import sys

import gguf
import numpy as np

WIDTH, HEADS, HIDDEN, CONTEXT = 32, 2, 64, 65536

writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_context_length(CONTEXT)
writer.add_embedding_length(WIDTH)
writer.add_block_count(1)
writer.add_feed_forward_length(HIDDEN)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_file_type(gguf.LlamaFileType.ALL_F32)

control, byte = gguf.TokenType.CONTROL, gguf.TokenType.BYTE
tokens = [("<unk>", gguf.TokenType.UNKNOWN), ("<s>", control), ("</s>", control)]
tokens += [(f"<0x{value:02X}>", byte) for value in range(256)]
writer.add_tokenizer_model("llama")
writer.add_token_list([text for text, _ in tokens])
writer.add_token_scores([0.0] * len(tokens))
writer.add_token_types([int(kind) for _, kind in tokens])
writer.add_unk_token_id(0)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)

random = np.random.default_rng(1)


def add(name: str, *shape: int) -> None:
    writer.add_tensor(name, random.normal(0, 0.5, shape).astype(np.float32))


add("token_embd.weight", len(tokens), WIDTH)
add("output.weight", len(tokens), WIDTH)
writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
for norm in ("attn_norm", "ffn_norm"):
    writer.add_tensor(f"blk.0.{norm}.weight", np.ones(WIDTH, np.float32))
for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
    add(f"blk.0.{name}.weight", WIDTH, WIDTH)
add("blk.0.ffn_gate.weight", HIDDEN, WIDTH)
add("blk.0.ffn_up.weight", HIDDEN, WIDTH)
add("blk.0.ffn_down.weight", WIDTH, HIDDEN)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
