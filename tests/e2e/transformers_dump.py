"""Runs a GPT-2 through Hugging Face's transformers and dumps every step's token and raw logits.

usage: transformers_dump.py MODEL_FOLDER REQUEST.json OUT

REQUEST: {"new_tokens": n, "batch": n, "prompts": [[id]],
          "settings": [{"threads": n, "dtype": "float32", "attention": "",
                        "runs": ["loop", "generate", "sample", "batch", "batch-loop"]}]}
  dtype       that of torch that the model is converted to
  attention   "eager" or "sdpa"; empty for a transformers that has but one
  loop        argmax, the whole context at each step, no cache
  generate    generate(), greedy
  sample      generate(do_sample=True, top_k=50), torch.manual_seed(1234) before each prompt
  batch       generate(), greedy, `batch` prompts at a time, padded on the left
  batch-loop  the same with use_cache=False
OUT.json: [{"setting": index, "run": name, "prompt": index, "tokens": [id]}], in order; OUT.bin: the logits of all
steps in the same order, float32. The end-of-text token ends a prompt.
"""

import copy
import json
import os
import struct
import sys

# Where a libtorch names libraries of CUDA that aren't there but for empty ones of their names.
sys.setdlopenflags(os.RTLD_LAZY)

import numpy
import torch
from transformers import GPT2Config, GPT2LMHeadModel

FLOATS = {"F32": numpy.float32, "F16": numpy.float16}


def read_safetensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        body = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        values = numpy.frombuffer(body[begin:end], dtype=FLOATS[entry["dtype"]])
        values = values.astype(numpy.float32).reshape(entry["shape"])
        tensors[name] = torch.from_numpy(values)
    return tensors


def load_model(folder):
    if os.path.exists(os.path.join(folder, "pytorch_model.bin")):
        return GPT2LMHeadModel.from_pretrained(folder).eval()
    model = GPT2LMHeadModel(GPT2Config.from_json_file(os.path.join(folder, "config.json")))
    weights = read_safetensors(os.path.join(folder, "model.safetensors"))
    prefix = "" if any(name.startswith("transformer.") for name in weights) else "transformer."
    weights = {prefix + name: tensor for name, tensor in weights.items()}
    missing = model.load_state_dict(weights, strict=False)
    assert not missing.unexpected_keys, missing
    assert all(
        key.endswith((".attn.bias", ".attn.masked_bias")) or key == "lm_head.weight"
        for key in missing.missing_keys
    ), missing
    model.tie_weights()
    return model.eval()


def argmax_loop(model, ids, new_tokens):
    for _ in range(new_tokens):
        logits = model(ids).logits[0, -1]
        token = int(torch.argmax(logits))
        ids = torch.cat([ids, torch.tensor([[token]])], dim=1)
        yield token, logits
        if token == model.config.eos_token_id:
            return


def generate(model, ids, new_tokens, **options):
    seen = []
    hook = model.register_forward_hook(lambda _model, _in, out: seen.append(out.logits[0, -1].clone()))
    out = model.generate(
        ids,
        max_length=ids.shape[1] + new_tokens,
        pad_token_id=model.config.eos_token_id,
        **options,
    )
    hook.remove()
    tokens = out[0, ids.shape[1]:].tolist()
    assert len(tokens) == len(seen), (len(tokens), len(seen))
    return zip(tokens, seen)


def generate_batch(model, prompts, new_tokens, **options):
    """Each prompt's steps, up to its end of text."""
    end = model.config.eos_token_id
    longest = max(len(ids) for ids in prompts)
    padded = torch.tensor([[end] * (longest - len(ids)) + ids for ids in prompts])
    mask = torch.tensor([[0] * (longest - len(ids)) + [1] * len(ids) for ids in prompts])
    seen = []
    hook = model.register_forward_hook(lambda _model, _in, out: seen.append(out.logits[:, -1].clone()))
    out = model.generate(
        padded,
        attention_mask=mask,
        max_length=longest + new_tokens,
        pad_token_id=end,
        do_sample=False,
        **options,
    )
    hook.remove()
    for row, tokens in enumerate(out[:, longest:].tolist()):
        assert len(tokens) == len(seen), (len(tokens), len(seen))
        length = tokens.index(end) + 1 if end in tokens else len(tokens)
        yield [(tokens[i], seen[i][row]) for i in range(length)]


def steps(model, run, ids, new_tokens):
    if run == "loop":
        return argmax_loop(model, ids, new_tokens)
    if run == "generate":
        return generate(model, ids, new_tokens, do_sample=False)
    torch.manual_seed(1234)
    return generate(model, ids, new_tokens, do_sample=True, top_k=50)


def answers(model, run, request):
    """Each prompt's steps, in order."""
    prompts, new_tokens = request["prompts"], request["new_tokens"]
    if run.startswith("batch"):
        for first in range(0, len(prompts), request["batch"]):
            batch = prompts[first:first + request["batch"]]
            yield from generate_batch(model, batch, new_tokens, use_cache=run == "batch")
    else:
        for ids in prompts:
            yield steps(model, run, torch.tensor([ids]), new_tokens)


def in_setting(loaded, setting):
    torch.set_num_threads(setting["threads"])
    dtype = getattr(torch, setting["dtype"])
    model = loaded if dtype == torch.float32 else copy.deepcopy(loaded).to(dtype)
    if setting["attention"]:
        model.set_attn_implementation(setting["attention"])
        assert model.config._attn_implementation == setting["attention"]
    return model


def main():
    folder, request_file, out = sys.argv[1:]
    with open(request_file) as file:
        request = json.load(file)
    index = []
    with torch.no_grad(), open(out + ".bin", "wb") as logits_file:
        loaded = load_model(folder)
        for number, setting in enumerate(request["settings"]):
            model = in_setting(loaded, setting)
            for run in setting["runs"]:
                for prompt, answer in enumerate(answers(model, run, request)):
                    tokens = []
                    for token, logits in answer:
                        tokens.append(token)
                        logits_file.write(logits.float().numpy().tobytes())
                    index.append(
                        {"setting": number, "run": run, "prompt": prompt, "tokens": tokens}
                    )
    with open(out + ".json", "w") as file:
        json.dump(index, file)


main()
