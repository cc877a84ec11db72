"""Every style in which a CUDA status is printed -> code, name and message, by the table."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from postmortem.lazy import lazy
from postmortem.parse.kernel_line import NOT_QUOTED
from postmortem.tables import table

NEEDLES = (
    r'failed: "',
    r"(?:[Cc]uda|CUDA) failure",
    r"code=\d+\(cuda",
    r"(?:CUDA|HIP) out of memory",
    r"(?i)cuda (?:runtime |driver |kernel )?(?:api )?error",
    r"HIP error",
    r"GPU ?[Aa]ssert",
    r"CUDA failed with error ",
    r"\[CUDA\] ",
    r"[Ff]ailed to initialize CUDA: ",
    r"CUDA runtime implicit initialization",
    r"cudaError[A-Z]",
    r"hipError[A-Z]",
    r"CUDA_ERROR_[A-Z]",
    r"cuda_err=",
    r"CU(?:BLAS|SOLVER|SPARSE|RAND|DNN)_STATUS_",
    r"CUFFT_[A-Z]",
    r"of pinned memory",
    r"\bcu(?:da)?[A-Z]\w+\(?\)? (?:returned|failed)",
    r"Call to cu[A-Z]\w+ results in",
    r"\bCudaError\(\d",
    r"\bError \d{1,3}: ",
    r"\bCL_[A-Z]+_[A-Z_]+",
)

_ADVICE = lazy(
    r"might be asynchronously reported|consider passing CUDA_LAUNCH_BLOCKING|[Cc]ompile with .{0,3}TORCH_USE_CUDA_DSA"
    r"|(?i:^(?:hint|note|tip|help)\b|\bif you (?:see|get|encounter|run into))"
    r"|[Ss]earch for .{0,3}cudaError|assertion tracking was not enabled|<<\s*cudaGetErrorString"
)
_TEST = lazy(
    r"\.\.\. ?(?i:ok|passed)\b|\bPASS(?:ED)?\b|pytest\.raises|assertRaises|\b[Ee]xpected (?i:cuda|error|failure)"
)
_HOST_CALL = lazy(
    r"cudaHostAlloc|cudaMallocHost|cudaHostRegister|cuMemHostAlloc|cuMemAllocHost|cuMemHostRegister|hipHostMalloc"
    r"|cuda_host_malloc|pinned memory|_srs\.cuh?"
)
_STATUS = r"\b(?P<status>CU(?:BLAS|SOLVER|SPARSE|RAND|DNN)_STATUS_|CUFFT_|CL_(?=OUT_OF|MEM_OBJ|DEVICE_NOT))"
_REASON = r"(?P<reason>[A-Z_0-9]+)"
_NUMBERS = (
    r"(?i:cuda) (?:[Rr]untime |[Dd]river )?(?i:error) ?(?:code)? ?[:=(]? ?(?P<code>\d{1,3})\b",
    r"Cuda failure (?P<code>\d{1,3}) ",
    r"code=(?P<code>\d{1,3})\(cuda",
    r"\bcuda_err=(?P<code>\d{1,3})\b",
    r"\[(?P<code>\d{1,3})\] Call to cu[A-Z]\w+ results in ",
    r"\bCudaError\((?P<code>\d{1,3})\b",
    r"\bcu(?:da)?[A-Z]\w+\(?\)? (?:returned|failed with)(?: error)?(?: code)?[ :=]{0,3}(?P<code>\d{1,3})\b",
)
_SPPARK = lazy(
    r"(?P<call>[A-Za-z_][\w:.]*(?:\((?:[^()]|\([^()]*\))*\))?)@(?P<place>[^\s@\"]+:\d+) failed: \"(?P<text>[^\"]+)\""
)
_CALLED = lazy(r"\b(?P<call>(?:cuda|cu|hip)[A-Z]\w+)(?=\(|\)?\s+(?:failed|returned)|\b.{0,20}cuda_err=)")
_CUE = lazy(
    NOT_QUOTED + r"(?:(?i:\bcuda) (?i:(?:runtime |driver |kernel )?(?:api )?error)|HIP error|(?:Cuda|CUDA) failure"
    r"|GPU ?[Aa]ssert|of pinned memory|\bcu(?:da)?[A-Z]\w+\(?\)? failed:|\bError \d{1,3}: |CUDA failed with error "
    r"|\[CUDA\] |[Ff]ailed to initialize CUDA: |CUDA runtime implicit initialization on GPU:\d+ failed)"
    r"(?P<gap>[^\n]{0,100}?)(?<![A-Za-z])"
)
_MEMORY = lazy(
    r"(?:CUDA|HIP) out of memory\.?(?: Tried to allocate (?P<tried>[\d.]+ [KMGT]?i?B)\b)?"
    r"(?:.*?\bGPU (?P<device>\d+))?"
    r"(?:.*?total capacity of (?P<total>[\d.]+ [KMGT]?i?B)|; (?P<total2>[\d.]+ [KMGT]?i?B) total)?"
    r"(?:.*?(?:of which |allocated; )(?P<free>[\d.]+ (?:[KMGT]i?)?B|[\d.]+ bytes)(?: is)? free)?"
)


class Status(NamedTuple):
    """What a line says: the code ("" for a library's status), its row of the table, and further fields."""

    code: str
    row: dict[str, Any]
    more: dict[str, str]


@cache
def _rows() -> dict[int, dict[str, Any]]:
    rows: dict[int, dict[str, Any]] = table("cuda")["cuda"]
    return rows


@cache
def _by_name() -> dict[str, int]:
    names = {f"cudaError{row['name']}": code for code, row in _rows().items()}
    names |= {f"hipError{row['name']}": code for code, row in _rows().items()} | {"hipErrorOutOfMemory": 2}
    return names | {f"CUDA_ERROR_{row['driver']}": code for code, row in _rows().items() if "driver" in row}


@cache
def _by_text() -> dict[str, int]:
    texts: dict[str, int] = {}
    for code, row in _rows().items():
        texts.setdefault(row["message"].rstrip("."), code)
    return texts | {"no ROCm-capable device is detected": 100, "shared object initialization failed": 303}


@cache
def _after_cue() -> re.Pattern[str]:
    longest_first = sorted(_by_text(), key=len, reverse=True)
    return re.compile(_CUE.pattern + "(?P<text>" + "|".join(map(re.escape, longest_first)) + r")(?![\w-])")


@cache
def _numbers() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(NOT_QUOTED + pattern) for pattern in _NUMBERS)


_NAME = lazy(NOT_QUOTED + r"\b(?P<name>cudaError[A-Z]\w+|hipError[A-Z]\w+|CUDA_ERROR_[A-Z_]+)\b")
_LIBRARY = lazy(NOT_QUOTED + _STATUS + _REASON)


def status_of(message: str) -> Status | None:
    """The CUDA status that a line reports; None for advice, test names, success and any other text.

    `CUDA error at main.cu:42 code=700(cudaErrorIllegalAddress) "cudaDeviceSynchronize()"`, by a program.
    """
    if _ADVICE.search(message) or _TEST.search(message):
        return None
    for reader in (_sppark, _out_of_memory, _text, _named, _numbered, _library):
        status = reader(message)
        if status is not None:
            return status
    return None


def is_pinned(text: str) -> bool:
    """Whether the text names a call that pins host memory."""
    return _HOST_CALL.search(text) is not None


def _row(code: int | None, **more: str | None) -> Status | None:
    if code is None or code not in _rows():
        return None
    return Status(str(code), _rows()[code], {k: v for k, v in more.items() if v})


def _sppark(message: str) -> Status | None:
    """`cudaMalloc(&p, n)@cuda/groth16_cuda.cu:182 failed: "out of memory"`, by sppark's macro."""
    found = _SPPARK.search(message)
    if found is None:
        return None
    return _row(_by_text().get(found["text"].rstrip(".")), call=found["call"], place=found["place"])


def _out_of_memory(message: str) -> Status | None:
    """`CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB …`, by PyTorch."""
    found = _MEMORY.search(message)
    if found is None:
        return None
    sizes = {"tried": found["tried"], "total": found["total"] or found["total2"], "free": found["free"]}
    return _row(2, device=found["device"], **sizes)


def _text(message: str) -> Status | None:
    """`CUDA error: an illegal memory access was encountered`, `Cuda failure 700 'an illegal …'`, by NCCL."""
    found = _after_cue().search(message)
    return _row(_by_text()[found["text"]], call=_call(message)) if found else None


def _named(message: str) -> Status | None:
    """`cudaErrorIllegalAddress`, `CUDA_ERROR_OUT_OF_MEMORY: out of memory`, by many."""
    codes = (_by_name().get(found["name"]) for found in _NAME.finditer(message))
    return _row(next((code for code in codes if code), None), call=_call(message))


def _numbered(message: str) -> Status | None:
    """`cudaHostAlloc failed size_gib=3.9 cuda_err=2`, by cuzk."""
    for pattern in _numbers():
        found = pattern.search(message)
        if found is not None:
            return _row(int(found["code"]), call=_call(message))
    return None


def _library(message: str) -> Status | None:
    """`CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)`, by PyTorch."""
    found = _LIBRARY.search(message)
    if found is None or found["reason"] in ("SUCCESS", ""):
        return None
    known: dict[str, dict[str, Any]] = table("cuda")["library"]
    match = next((known[key] for key in known if found["reason"].startswith(key)), {})
    call = re.search(r"calling [`']?(\w+)", message)
    name = found["status"] + found["reason"]
    return Status("", {"name": name, "message": name, **match}, {"call": call.group(1)} if call else {})


def _call(message: str) -> str:
    found = _CALLED.search(message)
    return found["call"] if found else ""
