"""``tiled.update`` as machine code, with llvmlite of the extra ``fast``.

NumPy goes over a block of scores four times, and its exp is slow on processors without AVX-512.  Here one pass finds
the largest score of a row, and another takes exp and the sum; LLVM spreads both over the lanes of the processor.

exp(x) = 2ᵏ · exp(r) with k = round(x / ln 2) and r = x − k · ln 2, so that |r| ≤ ln 2 / 2, where the Taylor series
is exact to the last bit or two.  Adding 2ᵏ is adding k to the exponent of a number, in its bits.  Below 2⁻¹²⁵
(float32) or 2⁻¹⁰²¹ (float64) of the largest weight there is 0.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, c_ssize_t, c_void_p
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from attncalc import address_space
from attncalc.core.shapes import Array

Update = Callable[[Array, Array, Array], Array]
"""Takes S, (R, C), m and l, (R, 1), all of which it changes; returns exp(m − m′), (R, 1)."""

ROOM = 2**29
"""Bytes that LLVM may need to address; it ends the process where it does not get them."""

LN2 = "0x1.62e42fefa39efp-1", "0x1.abc9e3b39803fp-56"
"""ln 2 as the sum of two float64."""


@dataclass(frozen=True)
class Float:
    """What of a type of numbers the machine code depends on.

    Attributes:
        name: in LLVM.
        bits: of a number.
        fraction: bits of its fraction.
        lowest: the least exponent k.
        terms: of the Taylor series of exp.
        split: bits of the first part of ln 2, so few that k times it is exact.
    """

    name: str
    bits: int
    fraction: int
    lowest: int
    terms: int
    split: int


FLOATS = {
    np.dtype(np.float32): Float("float", 32, 23, -125, 7, 15),
    np.dtype(np.float64): Float("double", 64, 52, -1021, 13, 40),
}


@dataclass(frozen=True, eq=False)
class Compiled:
    """Machine code, and the engine without which it would be gone."""

    engine: Any
    code: Callable[..., None]

    def __call__(self, S: Array, m: Array, l: Array) -> Array:
        """Do what ``tiled.update`` does; the numbers of a row of S have to stand side by side."""
        assert S.shape[1] == 1 or S.strides[1] == S.itemsize
        shrink = np.empty_like(m)
        places = (array.ctypes.data for array in (S, m, l, shrink))
        self.code(*places, *S.shape, S.strides[0] // S.itemsize)
        return shrink


@cache
def update(dtype: "np.dtype[Any]") -> Update | None:
    """Return ``tiled.update`` for a type of numbers as machine code; None where llvmlite does not load."""
    left = address_space.room()
    if left is not None and left < ROOM:
        return None
    try:
        from llvmlite import binding, ir
    except (ImportError, OSError):
        return None
    number = FLOATS[dtype]
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    module = binding.parse_assembly(str(written(number, ir)))
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=3
    )
    tuning = binding.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = True
    passes = binding.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(module, passes)
    engine = binding.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return Compiled(engine, CFUNCTYPE(None, *[c_void_p] * 4, *[c_ssize_t] * 3)(engine.get_function_address("update")))


def written(number: Float, ir: Any) -> Any:
    """Write ``update`` down in LLVM's language; ``ir`` is the module of llvmlite.

    The arguments are S, m, l and the place of the result, then the rows and the columns of S, and how many numbers lie
    between the beginnings of two rows of S.
    """
    F, size = ir.FloatType() if number.bits == 32 else ir.DoubleType(), ir.IntType(64)
    module = ir.Module()
    kind = ir.FunctionType(ir.VoidType(), [ir.PointerType()] * 4 + [size] * 3)
    function = ir.Function(module, kind, "update")
    for pointer in function.args[:4]:
        pointer.add_attribute("noalias")
    S, m, l, shrink, rows, columns, stride = function.args
    b = ir.IRBuilder(function.append_basic_block())
    top, total, minus_infinity = b.alloca(F), b.alloca(F), F(-math.inf)

    def at(array: Any, index: Any) -> Any:
        return b.gep(array, [index], source_etype=F)

    def load(place: Any) -> Any:
        return b.load(place, typ=F)

    def larger(x: Any, y: Any) -> Any:
        return b.select(b.fcmp_ordered(">", x, y, flags=["nnan", "nsz"]), x, y, flags=["nnan", "nsz"])

    with loop(b, ir, rows) as i:
        row, before = at(S, b.mul(i, stride)), load(at(m, i))
        b.store(before, top)
        with loop(b, ir, columns) as j:
            b.store(larger(load(at(row, j)), load(top)), top)
        after = load(top)
        level = b.select(b.fcmp_ordered("==", after, minus_infinity), F(0.0), after)
        factor = exp(b, ir, number, b.fsub(before, level))
        b.store(after, at(m, i))
        b.store(factor, at(shrink, i))
        b.store(F(0.0), total)
        with loop(b, ir, columns) as j:
            weight = exp(b, ir, number, b.fsub(load(at(row, j)), level))
            b.store(weight, at(row, j))
            b.store(b.fadd(load(total), weight, flags=["reassoc"]), total)
        b.store(b.fadd(b.fmul(factor, load(at(l, i))), load(total)), at(l, i))
    b.ret_void()
    return module


def exp(b: Any, ir: Any, number: Float, x: Any) -> Any:
    """Write exp(x) down, for x ≤ 0; NaN stays NaN."""
    F, integer, fused = x.type, ir.IntType(number.bits), ["contract"]
    high, low = map(float.fromhex, LN2)
    first = math.floor(math.ldexp(high, number.split)) / 2**number.split
    lowest = F(number.lowest * high)
    vanishes = b.fcmp_ordered("<", x, lowest)
    x = b.select(vanishes, lowest, x)
    rounder = F(1.5 * 2**number.fraction)  # pushes what is less than 1 out of a number's bits
    shifted = b.fadd(b.fmul(x, F(1 / high)), rounder)
    k = b.fsub(shifted, rounder)
    r = b.fsub(x, b.fmul(k, F(first), flags=fused), flags=fused)
    r = b.fsub(r, b.fmul(k, F(high - first + low), flags=fused), flags=fused)
    power = F(1 / math.factorial(number.terms))
    for n in reversed(range(number.terms)):
        power = b.fadd(b.fmul(power, r, flags=fused), F(1 / math.factorial(n)), flags=fused)
    exponent = b.shl(b.bitcast(shifted, integer), integer(number.fraction))
    scaled = b.bitcast(b.add(b.bitcast(power, integer), exponent), F)
    return b.select(vanishes, F(0.0), scaled)


@contextmanager
def loop(b: Any, ir: Any, count: Any) -> Iterator[Any]:
    """Write down that what follows is done for 0, 1 … count − 1; yield which it is.  The count is at least 1."""
    zero, one = count.type(0), count.type(1)
    start, body = b.block, b.append_basic_block()
    b.branch(body)
    b.position_at_end(body)
    i = b.phi(count.type)
    i.add_incoming(zero, start)
    yield i
    following = b.add(i, one)
    i.add_incoming(following, b.block)
    end = b.append_basic_block()
    b.cbranch(b.icmp_signed("<", following, count), body, end)
    b.position_at_end(end)
