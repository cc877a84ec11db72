"""CUDA statuses in every printed style, and the table behind them."""


from __future__ import annotations

import pytest

from postmortem.model import Kind
from postmortem.parse.cuda import PARSER
from postmortem.parse.cuda_lines import status_of
from postmortem.tables import table
from reading import events

STYLES = {
    "pytorch": ("RuntimeError: CUDA error: an illegal memory access was encountered", {"code": "700", "name": "cudaErrorIllegalAddress", "class": "gpu.illegal-access", "sticky": "yes"}),
    "pytorch-rank": ("[rank3]: torch.AcceleratorError: CUDA error: uncorrectable NVLink error detected during the execution", {"code": "220", "rank": "3"}),
    "pytorch-oom": ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.15 GiB of which 1.20 GiB is free.",
                    {"code": "2", "class": "gpu.out-of-memory", "tried": "2.00 GiB", "total": "79.15 GiB", "free": "1.20 GiB", "device": "3", "pinned": None}),
    "pytorch-oom-old": ("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity; 6.06 GiB already allocated; 13.94 MiB free; 6.40 GiB reserved)",
                        {"code": "2", "tried": "20.00 MiB", "total": "7.79 GiB", "free": "13.94 MiB", "device": "0"}),
    "pytorch-1.0": ("RuntimeError: cuda runtime error (2) : out of memory at /pytorch/aten/src/THC/generic/THCStorage.cu:58", {"code": "2"}),
    "pytorch-hip": ("torch.OutOfMemoryError: HIP out of memory. Tried to allocate 1.00 GiB.", {"code": "2", "tried": "1.00 GiB"}),
    "nccl": ("node1:51120:52811 [1] enqueue.cc:1556 NCCL WARN Cuda failure 'unspecified launch failure'", {"code": "719", "class": "gpu.launch-failed"}),
    "nccl-number": ("node1:1:2 [0] init.cc:1 NCCL WARN Cuda failure 700 'an illegal memory access was encountered'", {"code": "700"}),
    "samples": ('CUDA error at ../../common/inc/helper_cuda.h:43 code=46(cudaErrorDevicesUnavailable) "cudaMalloc(&p, n)"', {"code": "46", "class": "gpu.no-device"}),
    "samples-api": ("Cuda error in file 'advect.cu' in line 214 : the launch timed out and was terminated.", {"code": "702"}),
    "driver-api": ("failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", {"code": "100", "name": "cudaErrorNoDevice"}),
    "driver-api-renamed": ("CUDA_ERROR_NO_BINARY_FOR_GPU", {"code": "209", "class": "gpu.arch-mismatch"}),
    "runtime-name": ("what(): cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version", {"code": "35", "class": "gpu.driver-too-old"}),
    "gpuassert": ("GPUassert: misaligned address kernel.cu 121", {"code": "716", "sticky": "yes"}),
    "ggml": ("CUDA error 2 at ggml-cuda.cu:359: out of memory", {"code": "2", "class": "gpu.out-of-memory"}),
    "ggml-newer": ("CUDA error: out of memory", {"code": "2"}),
    "sppark-device": ('cudaMalloc(&cache.ptr, sz_bytes)@cuda/groth16_cuda.cu:182 failed: "out of memory"',
                      {"code": "2", "class": "gpu.out-of-memory", "call": "cudaMalloc(&cache.ptr, sz_bytes)", "place": "cuda/groth16_cuda.cu:182", "pinned": None}),
    "sppark-srs-is-host": ('cuda_err@cuda/groth16_srs.cuh:271 failed: "out of memory"', {"code": "2", "class": "memory.pinned-failed", "pinned": "yes"}),
    "sppark-what": ('  what():  cudaStreamSynchronize(stream)@sppark-0.1.15/sppark/util/gpu_t.cuh:158 failed: "an illegal memory access was encountered"',
                    {"code": "700", "call": "cudaStreamSynchronize(stream)"}),
    "sppark-nested-call": ('cudaMemcpyAsync(dst, src, n * sizeof(T), f(k), stream)@sppark/util/gpu_t.cuh:9 failed: "invalid argument"', {"code": "1", "class": "gpu.cuda-error"}),
    "pinned-pool": ("WARN cudaHostAlloc failed size_gib=3.9 cuda_err=2", {"code": "2", "class": "memory.pinned-failed", "pinned": "yes", "call": "cudaHostAlloc"}),
    "pinned-ggml": ("WARNING: failed to allocate 1024.00 MB of pinned memory: out of memory", {"code": "2", "pinned": "yes"}),
    "pinned-other-number": ("cudaMallocHost failed with error 304", {"code": "304", "pinned": "yes"}),
    "call-returned": ("cudaSetDevice() returned 101", {"code": "101", "pinned": None}),
    "cublas": ("RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`", {"code": None, "name": "CUBLAS_STATUS_NOT_INITIALIZED", "call": "cublasCreate"}),
    "cublas-alloc": ("CUBLAS_STATUS_ALLOC_FAILED", {"class": "gpu.out-of-memory"}),
    "cudnn-generic": ("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", {"class": "gpu.cuda-error", "effect": "yes"}),
    "ggml-call": ("E ggml_backend_cuda_buffer_type_alloc_buffer: allocating 41877.40 MiB on device 1: cudaMalloc failed: out of memory", {"code": "2", "call": "cudaMalloc", "device": "1"}),
    "pytorch-lazy-init": ("RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices()? Error 803: system has unsupported display driver / cuda driver combination", {"code": "803"}),
    "opencl": ("Status error code: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)", {"name": "CL_MEM_OBJECT_ALLOCATION_FAILURE", "class": "gpu.out-of-memory"}),
    "fabric": ("Error 802: CUDA error: system not yet initialized", {"code": "802", "class": "gpu.fabric-not-ready"}),
    "assert": ("RuntimeError: CUDA error: device-side assert triggered", {"code": "710", "class": "gpu.device-assert"}),
    "mps": ("CUDA error: the remote procedural call between the MPS server and the MPS client failed", {"code": "806", "class": "gpu.mps"}),
    "ctranslate2": ("RuntimeError: CUDA failed with error out of memory", {"code": "2", "class": "gpu.out-of-memory"}),
    "lightgbm": ("[LightGBM] [Fatal] [CUDA] an illegal memory access was encountered /src/cuda_tree.cu 214", {"code": "700"}),
    "ggml-init": ("ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected", {"code": "100"}),
    "tensorflow-init": ("InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: out of memory", {"code": "2"}),
    "longest-message-wins": ("CUDA error: unspecified launch failure in prior launch", {"code": "53", "effect": "yes"}),
}  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), STYLES.values(), ids=STYLES)
def test_styles(line: str, expected: dict[str, str | None]) -> None:
    (made,) = events(PARSER, line, Kind.LOG, "train.log")
    assert {k: made.get(k) for k in expected} == expected


@pytest.mark.parametrize("prefix", ["", "2026-05-01T12:00:00.123456Z ERROR bench: ", "2026-05-01 12:00:00,123 ERROR worker[7] "])
def test_prefixes_of_loggers(prefix: str) -> None:
    (made,) = events(PARSER, prefix + "CUDA error: invalid device ordinal", Kind.LOG, "x.log")
    assert made["code"] == "101"


SILENT = {
    "a tag alone": "[CUDA] 2 devices found, 0 errors",
    "failed with no status": "CUDA failed with error handling disabled",
    "advice-async": "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
    "advice-blocking": "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
    "advice-dsa": "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
    "advice-search": "Search for `cudaErrorIllegalAddress' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.",
    "success-name": "cuda_err=0 CUBLAS_STATUS_SUCCESS",
    "success-code": "cudaMalloc() returned 0",
    "test-name": "test_cuda_error_recovery ... ok",
    "test-that-passes": "tests/test_gpu.py::test_cuda_error_out_of_memory PASSED [ 12%]",
    "zero-errors": "cuda errors: 0",
    "nccl-enum": "ncclUnhandledCudaError: Call to CUDA function failed.",
    "another-error-number": "Error 802: the licence server is away",
    "a-constant-of-opencl": "CL_DEVICE_MAX_COMPUTE_UNITS 128, CL_TRUE",
    "kernel-oom": "Out of memory: Killed process 7 (a)",
    "open-failed": 'open("/params/x") failed: "No such file or directory"',
    "file-at-without-status": 'f(x)@src/main.rs:12 failed: "timeout"',
    "quoted-source": "+ grep 'CUDA error: out of memory' run.log",
    "longer-word": "CUDA error: unknown errors were seen in the past",
}


@pytest.mark.parametrize("line", SILENT.values(), ids=SILENT)
def test_must_not_match(line: str) -> None:
    assert events(PARSER, line, Kind.LOG, "train.log") == []


def test_echoes_of_one_rank_are_counted_and_ranks_kept_apart() -> None:
    line = "[rank{}]: RuntimeError: CUDA error: unspecified launch failure"
    made = events(PARSER, "\n".join([line.format(0), line.format(0), line.format(1)]), Kind.LOG, "t.log")
    assert [(e["rank"], e.get("count")) for e in made] == [("0", "2"), ("1", None)]


def test_a_call_on_the_next_line_tells_that_memory_was_pinned() -> None:
    text = "CUDA error: out of memory\n  current device: 0, in function ggml_cuda_host_malloc at ggml-cuda.cu:1171\n"
    (made,) = events(PARSER, text, Kind.LOG, "llama.log")
    assert (made["pinned"], made["class"]) == ("yes", "memory.pinned-failed")


def test_a_named_call_is_not_overruled_by_its_neighbours() -> None:
    text = 'WARN pinned pool: cudaHostAlloc ok\ncudaMalloc(&p, n)@cuda/a.cu:1 failed: "out of memory"\n'
    (made,) = events(PARSER, text, Kind.LOG, "p.log")
    assert "pinned" not in made


ROWS = table("cuda")["cuda"]


@pytest.mark.parametrize("code", ROWS)
def test_every_message_is_recognised(code: int) -> None:
    status = status_of(f"CUDA error: {ROWS[code]['message']}")
    assert status is not None
    assert status.row["message"] == ROWS[code]["message"]


@pytest.mark.parametrize("code", ROWS)
def test_every_name_is_recognised(code: int) -> None:
    row = ROWS[code]
    names = [f"cudaError{row['name']}", *([f"CUDA_ERROR_{row['driver']}"] if "driver" in row else [])]
    assert [status and status.code for status in map(status_of, names)] == [str(code)] * len(names)


def test_sticky_codes() -> None:
    assert {code for code, row in ROWS.items() if row.get("sticky")} == {
        214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719,
    }  # fmt: skip
