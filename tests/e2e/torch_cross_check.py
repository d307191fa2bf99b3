"""What torch itself writes and reads, for torch_cross_test.cpp.

    write FOLDER    saves state dicts in both formats and beside them, as raw float32, what they hold
    read FILE OUT   loads FILE and writes the float32 elements of all its tensors, one after the other
"""
import array
import collections
import json
import os
import sys

import torch


def state_dict():
    torch.manual_seed(7)
    base = torch.randn(6, 5)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4))
    state = model.state_dict()  # an OrderedDict with _metadata
    state["parameter"] = torch.nn.Parameter(torch.randn(3))
    state["whole"] = base
    state["transposed"] = base.t()
    state["strided"] = base[1::2, ::3]
    state["expanded"] = torch.randn(4, 1).expand(4, 3)
    state["shared"] = base.view(-1)[7:19]
    state["scalar"] = torch.tensor(2.5)
    state["empty"] = torch.zeros(0, 3)
    state["half"] = torch.randn(7).half()
    state["bfloat"] = torch.randn(7).bfloat16()
    state["special"] = torch.tensor([float("inf"), -0.0, 1e-40, 6e-8]).half()
    state["mask"] = torch.ones(2, 2).bool()
    state["bytes"] = torch.arange(4, dtype=torch.uint8)
    state["longs"] = torch.arange(4)
    return state


def raw(tensor):
    # Without numpy, which this environment may lack. A Python float holds any float32 exactly.
    return array.array("f", tensor.detach().float().flatten().tolist()).tobytes()


def write(folder):
    state = state_dict()
    description = collections.OrderedDict()
    for name, tensor in state.items():
        readable = tensor.dtype in (torch.float32, torch.float16, torch.bfloat16)
        description[name] = {
            "shape": list(tensor.shape),
            "dtype": str(tensor.dtype).replace("torch.", ""),
            "float32": raw(tensor).hex() if readable else None,
        }
    with open(os.path.join(folder, "expected.json"), "w") as file:
        json.dump(description, file)
    for protocol in (2, 3, 4):
        for zipped in (True, False):
            name = "%s-%d.bin" % ("zip" if zipped else "legacy", protocol)
            torch.save(state, os.path.join(folder, name), pickle_protocol=protocol,
                       _use_new_zipfile_serialization=zipped)


def read(path, out):
    state = torch.load(path, map_location="cpu")
    with open(out, "wb") as file:
        for tensor in state.values():
            file.write(raw(tensor))


{"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
