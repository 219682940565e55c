"""Record what torch.nn.MultiheadAttention computes, so that tests need no torch.

    python tests/data/make_torch_mha.py

writes torch_mha.safetensors beside this file: two modules' state dicts, ``joined.…`` (one width) and ``apart.…`` (a
context of its own width), and what they gave, ``record.NAME.…``, all in float64.  Written by torch 2.13.0.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file

HEADS = 3
TARGET = Path(__file__).parent / "torch_mha.safetensors"


def module(**widths: int) -> torch.nn.MultiheadAttention:
    made = torch.nn.MultiheadAttention(12, HEADS, batch_first=True, dtype=torch.float64, **widths)
    for name, parameter in made.named_parameters():
        if name.endswith("bias"):  # torch starts them at 0, which would hide a mistake
            torch.nn.init.normal_(parameter)
    return made.eval()


def main() -> None:
    torch.manual_seed(20)
    joined, apart = module(), module(kdim=10, vdim=10)
    x, context = torch.randn(2, 5, 12, dtype=torch.float64), torch.randn(2, 4, 10, dtype=torch.float64)
    blocked = torch.ones(5, 5, dtype=torch.bool).triu(1)
    padding = torch.tensor([[False] * 5, [False, False, False, True, True]])
    found = {f"joined.{name}": tensor for name, tensor in joined.state_dict().items()}
    found |= {f"apart.{name}": tensor for name, tensor in apart.state_dict().items()}
    runs = {
        "joined": joined(x, x, x, average_attn_weights=False),
        "masked": joined(x, x, x, attn_mask=blocked, key_padding_mask=padding, average_attn_weights=False),
        "apart": apart(x, context, context, average_attn_weights=False),
    }
    for name, (output, weights) in runs.items():
        found |= {f"record.{name}.output": output, f"record.{name}.weights": weights}
    found |= {"record.x": x, "record.context": context, "record.blocked": blocked, "record.padding": padding}
    save_file({name: tensor.detach().contiguous() for name, tensor in found.items()}, TARGET)


if __name__ == "__main__":
    main()
