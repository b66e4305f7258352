"""Writes a tiny model of random weights and serves it with llama.cpp: the words are noise, the forms are real.

usage: llama.py FOLDER
Prints `ready` and its port when the server answers, and ends when its standard input does.
"""

import sys
from pathlib import Path

import gguf
import numpy
import xllamacpp

WIDTH, LAYERS, HEADS, CONTEXT = 64, 2, 4, 16384
SPECIAL = ["<unk>", "<s>", "</s>"]
# The server reads from it how calls of tools are written, and holds the model to that.
TEMPLATE = """\
{%- if tools %}
{{- "<|im_start|>system\\n# Tools\\n<tools>" }}
{%- for tool in tools %}
{{- "\\n" }}{{- tool | tojson }}
{%- endfor %}
{{- "\\n</tools><|im_end|>\\n" }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == "assistant" %}
{{- "<|im_start|>assistant\\n" }}
{%- if message.content %}
{{- "[words]" + message.content + "[/words]" }}
{%- endif %}
{%- for call in message.tool_calls or [] %}
{{- "<tool_call>\\n{\\"name\\": \\"" + call.function.name + "\\", \\"arguments\\": " }}
{{- call.function.arguments | tojson }}
{{- "}\\n</tool_call>" }}
{%- endfor %}
{{- "<|im_end|>\\n" }}
{%- elif message.role == "tool" %}
{{- "<|im_start|>user\\n<tool_response>\\n" + message.content + "\\n</tool_response><|im_end|>\\n" }}
{%- else %}
{{- "<|im_start|>" + message.role + "\\n" + message.content + "<|im_end|>\\n" }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- "<|im_start|>assistant\\n" }}
{%- endif %}
"""


def write_model(path):
    """A llama of two layers that spells byte by byte."""
    draw = numpy.random.default_rng(7)
    tokens = [text.encode() for text in SPECIAL] + [f"<0x{byte:02X}>".encode() for byte in range(256)]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL] + [gguf.TokenType.BYTE] * 256
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_add_space_prefix(False)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)

    def random(*shape):
        return (draw.standard_normal(shape) / 8).astype(numpy.float32)

    def ones(*shape):
        return numpy.ones(shape, dtype=numpy.float32)

    writer.add_tensor("token_embd.weight", random(len(tokens), WIDTH))
    writer.add_tensor("output_norm.weight", ones(WIDTH))
    writer.add_tensor("output.weight", random(len(tokens), WIDTH))
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        writer.add_tensor(block + "attn_norm.weight", ones(WIDTH))
        writer.add_tensor(block + "ffn_norm.weight", ones(WIDTH))
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"{block}{part}.weight", random(WIDTH, WIDTH))
        writer.add_tensor(block + "ffn_gate.weight", random(2 * WIDTH, WIDTH))
        writer.add_tensor(block + "ffn_up.weight", random(2 * WIDTH, WIDTH))
        writer.add_tensor(block + "ffn_down.weight", random(WIDTH, 2 * WIDTH))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path):
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = CONTEXT
    params.cpuparams.n_threads = 1
    params.use_jinja = True
    return xllamacpp.Server(params)


def main():
    model = Path(sys.argv[1]) / "tiny.gguf"
    write_model(model)
    server = serve(model)
    print("ready", server.listening_address.rsplit(":", 1)[1], flush=True)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
