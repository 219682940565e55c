"""Files to start from: all samples, good and broken, and one small file of every kind that is read."""

import gzip
import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
LARGEST = 4000  # bytes of a file to start from; larger ones are slower and find no more
TEXTBOOK = {"q": [[1.0, 0.0], [0.0, 1.0]], "k": [[1.0, 0.5], [0.25, 1.0], [1.0, 1.0]], "v": [[10.0], [7], [5]]}
OWN = {"schema": "attncalc.compute/1", "shapes": {"query": [3, 2]}, "notes": ["…"], "scores": [[1, None]], "lse": [1.5]}

TABLES = (
    "1,2,3\n4,5,6\n",
    "a,b,c\n1,2,3\n4,5,6\n",
    "1;2,5\n3,5;4\n",
    "sep=;\n1;2\n3;4\n",
    "# words\n the 1.5 -2e3\n cat nan -inf\n",
    "batch,head,query,k0,k1\n0,0,0,1.5,2\n0,0,1,3,4\n0,1,0,5,6\n0,1,1,7,8\n",
    '"the, cat",1,2\n"a ""b""",3,4\n',
    "query,d0,d1\n0,1,2\n1,3,4\n",
    ",0,1\n0,1,2\n1,3,4\n",
    "\ufefftrue\tfalse\r\nfalse\ttrue\r\n",
    "−1.5 2D+05\n1e-300 .5\n",
    "lse\n1\n2\n",
)
DOCUMENTS = (
    OWN,
    {"q": {"data": [1, 2, 3, 4], "shape": [2, 2]}, "tokens": ["a", "b"], "mask": [[True, False]]},
    [[[1, 2], [3, 4]], [[5, 6], [7, 8]]],
)


def npy(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version, allow_pickle=False)
    return file.getvalue()


def npz(arrays: dict[str, np.ndarray], save: Callable[..., None] = np.savez) -> bytes:
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


@cache
def seeds() -> tuple[bytes, ...]:
    """Return the files to start from, always in the same order; what is good counts twice, against the broken."""
    paths = sorted(path for path in (ROOT / "samples").rglob("*") if path.is_file() and path.suffix != ".py")
    found = [path.read_bytes()[:LARGEST] for path in paths if path.parent.name == "broken"]
    return (*found, *2 * [path.read_bytes() for path in paths if path.parent.name != "broken"], *3 * _small())


def _small() -> list[bytes]:
    """Return one small file of every kind."""
    texts = [*TABLES, *(json.dumps(document) for document in (TEXTBOOK, *DOCUMENTS))]
    found = [text.encode() for text in texts]
    found += [text.encode("utf-16") for text in texts[:3]]
    found += [gzip.compress(text.encode(), mtime=0) for text in (TABLES[0], texts[-1])]
    arrays = {name: np.array(rows) for name, rows in TEXTBOOK.items()}
    for dtype in ("<f8", ">f4", "<f2", "<i8", ">i2", "|u1", "|b1", "<U3"):
        found.append(npy(np.arange(6).reshape(2, 3).astype(dtype) if dtype != "<U3" else np.array(["a", "the"])))
    found += [npy(np.asfortranarray(arrays["k"])), npy(np.zeros((2, 0, 3)))]
    found += [npy(arrays["q"], (2, 0)), npy(arrays["v"], (3, 0))]
    found += [npz(arrays), npz(arrays, np.savez_compressed), npz({"tokens": np.array(["a", "b"]), "q": arrays["q"]})]
    found += _safetensors(arrays)
    return found


def _safetensors(arrays: dict[str, np.ndarray]) -> list[bytes]:
    try:
        from safetensors.numpy import save
    except ImportError:
        return []
    bfloat16 = b'{"q":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}}'
    return [
        save({name: np.ascontiguousarray(array) for name, array in arrays.items()}),
        len(bfloat16).to_bytes(8, "little") + bfloat16 + b"\x80\x3f\x00\x40",
    ]
