"""Writes what the modules of a PyTorch model compute into a .safetensors file, in the order of
computation, for `bisect-ppl diff tensors`. Needs PyTorch and nothing else.

    from dump_tensors import dump

    with dump(model, "base.safetensors"):
        model(tokens)

Names are those of the modules, such as `model.layers.0.self_attn.q_proj`. A module that is called
again gets `#2` after its name. The header has the order and the class of each module.
"""
import contextlib
import json
import os
import struct
import tempfile

import torch

_DTYPES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}
# Values that are written at once.
_BLOCK = 1 << 20


@contextlib.contextmanager
def dump(model, path, modules=None, prefix=""):
    """Writes the outputs of all modules, in the order in which they end, when the block ends.

    model:   a torch.nn.Module.
    path:    the file to write; it appears only when it is complete.
    modules: a function from a module's name and the module to whether it is written; all by default.
    prefix:  before each name: `full.`, `prefill.`, `decode.`, `step3.`.

    Tensors of other types than f16, bf16, f32 and f64 are left out. Values are copied to the disk
    at once, so that a dump needs no memory.
    """
    with _Writer(path) as writer:
        handles = []
        for name, module in model.named_modules():
            if modules is None or modules(name, module):
                handles.append(module.register_forward_hook(_hook(writer, prefix + (name or "model"))))
        try:
            yield writer
        finally:
            for handle in handles:
                handle.remove()


def dump_gradients(model, path, prefix=""):
    """Writes the gradients of all parameters, as `NAME.grad`. Call it after backward()."""
    with _Writer(path) as writer:
        for name, parameter in model.named_parameters():
            if parameter.grad is not None:
                writer.add(f"{prefix}{name}.grad", parameter.grad, "grad")


def dump_weights(model, path, prefix=""):
    """Writes all parameters, such as after a training step."""
    with _Writer(path) as writer:
        for name, parameter in model.named_parameters():
            writer.add(prefix + name, parameter, "parameter")


def _hook(writer, name):
    def write(module, _inputs, output):
        for number, tensor in enumerate(_tensors(output)):
            # The first tensor is the output; others are caches and attention weights.
            writer.add(name if number == 0 else f"{name}:{number}", tensor, type(module).__name__)

    return write


def _tensors(output):
    if isinstance(output, torch.Tensor):
        return [output]
    if isinstance(output, dict):
        output = list(output.values())
    if isinstance(output, (tuple, list)):
        return [one for one in output if isinstance(one, torch.Tensor)]
    return []


class _Writer:
    """Collects values in a temporary file, and writes the header when all names are known."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self.order, self.operations, self.entries = [], {}, {}
        self.offset = 0

    def __enter__(self):
        folder = os.path.dirname(os.path.abspath(self.path))
        self.values = tempfile.TemporaryFile(dir=folder)
        return self

    def add(self, name, tensor, operation):
        """Writes a tensor; its values count as they are now."""
        if tensor.dtype not in _DTYPES or tensor.numel() == 0:
            return
        count = sum(one == name or one.startswith(f"{name}#") for one in self.entries)
        name = name if count == 0 else f"{name}#{count + 1}"
        flat = tensor.detach().to("cpu").contiguous().flatten()
        begin = self.offset
        for block in flat.split(_BLOCK):
            # numpy() knows no bfloat16; two bytes are two bytes.
            same = block.view(torch.int16) if block.element_size() == 2 else block
            self.offset += self.values.write(same.numpy().tobytes())
        self.order.append(name)
        self.operations[name] = operation
        self.entries[name] = {
            "dtype": _DTYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [begin, self.offset],
        }

    def __exit__(self, kind, error, trace):
        with self.values:
            if kind is None:
                self._finish()

    def _finish(self):
        texts = {"order": json.dumps(self.order), "operations": json.dumps(self.operations)}
        header = json.dumps({"__metadata__": texts, **self.entries}).encode()
        header += b" " * (-len(header) % 8)
        incomplete = f"{self.path}.incomplete"
        with open(incomplete, "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            self.values.seek(0)
            while block := self.values.read(_BLOCK):
                file.write(block)
        os.replace(incomplete, self.path)
