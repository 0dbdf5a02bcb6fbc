//! Outputs of failed commands, and what is found in each.

use super::super::*;

pub(super) const EXIT: Ended = Ended::Exited(1);
pub(super) const SEGV: Ended = Ended::Signaled(11);
pub(super) const ABRT: Ended = Ended::Signaled(ABORT);

/// Outputs in the form of each tool, and the expected result.
pub(super) const RUNS: [(&Ended, &str, &str); 36] = [
    // Python.
    (
        &EXIT,
        "loading\nTraceback (most recent call last):\n  File \"/w/x/engine/load.py\", line 9, in <module>\n    if n: load(4)\n          ^^^^^^^\n  File \"/w/x/engine/load.py\", line 2, in load\n    assert n == 3, \"shape mismatch\"\n           ^^^^^^\nAssertionError: shape mismatch",
        "R AssertionError: shape mismatch in load.py load",
    ),
    (
        &EXIT,
        "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nModuleNotFoundError: No module named 'nosuch'",
        "R ModuleNotFoundError: No module named 'nosuch' in <string> <module>",
    ),
    (
        &EXIT,
        "Traceback (most recent call last):\n  File \"p.py\", line 5, in main\n    import nosuch\nModuleNotFoundError: No module named 'nosuch'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"p.py\", line 7, in main\n    raise RuntimeError(\"engine core failed\") from e\nRuntimeError: engine core failed",
        "R ModuleNotFoundError: No module named 'nosuch' in p.py main | RuntimeError: engine core failed in p.py main",
    ),
    (
        &EXIT,
        "(EngineCore pid=71) Traceback (most recent call last):\n(EngineCore pid=71)   File \"/v/core.py\", line 3, in step\n(EngineCore pid=71)     run()\n(EngineCore pid=71) KeyError: 'blk.3.attn'",
        "R KeyError: 'blk.#.attn' in core.py step",
    ),
    (
        &SEGV,
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f53fd652b80 (most recent call first):\n  File \"/usr/lib/python3.11/ctypes/__init__.py\", line 519 in string_at\n  File \"<string>\", line 1 in <module>",
        "r Fatal Python error: Segmentation fault in __init__.py string_at",
    ),
    (
        &EXIT,
        "a.py:3: FutureWarning: this goes\nSyntaxError: invalid syntax",
        "R SyntaxError: invalid syntax",
    ),
    // Rust, Go.
    (
        &Ended::Exited(101),
        "\nthread 'main' (20203) panicked at src/kernel.rs:1:54:\nindex out of bounds: the len is 0 but the index is 1\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        "R panicked at src/kernel.rs: index out of bounds: the len is # but the index is #",
    ),
    (
        &Ended::Exited(101),
        "thread 'main' panicked at 'no tensor', src/load.rs:12:5\nnote: run with `RUST_BACKTRACE=1`",
        "R panicked at 'no tensor', src/load.rs",
    ),
    (
        &Ended::Exited(2),
        "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:",
        "R panic: runtime error: index out of range [#] with length #",
    ),
    // C and C++.
    (
        &ABRT,
        "engine: /w/7/src/quant.c:12: dot: Assertion `n % 32 == 0' failed.\nAborted (core dumped)",
        "R quant.c: dot: Assertion 'n % # == #' failed.",
    ),
    (
        &ABRT,
        "/w/ggml/src/ggml.c:3061: GGML_ASSERT(ggml_can_mul_mat(a, b)) failed\n[New LWP 71]\n#0  0x00007f5c1 in __GI___wait4 (pid=72) at wait4.c:30\n#1  0x00007f5c2 in ggml_print_backtrace () from /w/libggml.so\n#2  0x00007f5c3 in ggml_abort () from /w/libggml.so\n#3  0x00007f5c4 in ggml_mul_mat () from /w/libggml.so",
        "R ggml.c: GGML_ASSERT(ggml_can_mul_mat(a, b)) failed",
    ),
    (
        &ABRT,
        "GGML_ASSERT: /w/ggml.c:4291: wtype != GGML_TYPE_COUNT",
        "R GGML_ASSERT: ggml.c: wtype != GGML_TYPE_COUNT",
    ),
    (
        &ABRT,
        "terminate called after throwing an instance of 'std::runtime_error'\n  what():  tensor 'blk.3' not found\nAborted",
        "R terminate called after throwing an instance of 'std::runtime_error' what(): tensor 'blk.#' not found",
    ),
    (
        &ABRT,
        "libc++abi: terminating due to uncaught exception of type std::out_of_range: map::at",
        "R libc++abi: terminating due to uncaught exception of type std::out_of_range: map::at",
    ),
    (
        &ABRT,
        "free(): double free detected in tcache 2",
        "r free(): double free detected in tcache #",
    ),
    (&ABRT, "loading\ndouble free or corruption (!prev)", "r double free or corruption (!prev)"),
    (
        &ABRT,
        "*** stack smashing detected ***: terminated",
        "r *** stack smashing detected ***: terminated",
    ),
    (&ABRT, "malloc(): corrupted top size\nAborted", "r malloc(): corrupted top size"),
    (
        &Ended::Exited(127),
        "./engine: symbol lookup error: ./engine: undefined symbol: ggml_init",
        "D undefined symbol: ggml_init",
    ),
    (
        &Ended::Exited(127),
        "./engine: error while loading shared libraries: libggml.so.1: cannot open shared object file: No such file or directory",
        "R error while loading shared libraries: libggml.so.#: cannot open shared object file: No such file or directory",
    ),
    // Sanitizers.
    (
        &EXIT,
        "=================================================================\n==20225==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000010 at pc 0x55 bp 0x7f sp 0x7f\nREAD of size 8\n    #0 0x7f9c1f8b76a8 in __interceptor_memcpy ../../libsanitizer/x.cpp:52\n    #1 0x55df6e737343 in pack_rows /w/x/pack.cpp:5\n    #2 0x7f9c1ea45249 in main /w/x/main.cpp:58\nSUMMARY: AddressSanitizer: heap-buffer-overflow /w/x/pack.cpp:5 in pack_rows",
        "R ERROR: AddressSanitizer: heap-buffer-overflow | in pack_rows",
    ),
    (
        &EXIT,
        "src/q.c:3:5: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'",
        "R src/q.c: runtime error: signed integer overflow: # + # cannot be represented in type 'int'",
    ),
    // GPUs.
    (
        &ABRT,
        "CUDA error: an illegal memory access was encountered\n  current device: 0, in function ggml_backend_cuda_synchronize at /w/ggml-cuda.cu:2446\n  cudaStreamSynchronize(cuda_ctx->stream())",
        "R CUDA error: an illegal memory access was encountered current device: #, in function ggml_backend_cuda_synchronize at ggml-cuda.cu",
    ),
    (
        &EXIT,
        "CUDA error 700 at ggml-cuda.cu:123: an illegal memory access was encountered",
        "r CUDA error # at ggml-cuda.cu: an illegal memory access was encountered",
    ),
    (
        &ABRT,
        "Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7f. Reason: Unknown.",
        "r Memory access fault by GPU",
    ),
    // Stacks.
    (
        &SEGV,
        "loading\n./engine(dequantize_row+0x1f) [0x55f]\n./engine(main+0x12) [0x55e]",
        "r in dequantize_row",
    ),
    // `error:` lines, if the program ends itself soon after.
    (&EXIT, "main: error: unable to load model\n", "R error: unable to load model"),
    (
        &EXIT,
        "2026-01-02 10:11:12,345 - ERROR - weights are 3 short",
        "R ERROR - weights are # short",
    ),
    (
        &EXIT,
        "llama_model_load: error loading model: missing tensor 'blk.12.ffn'\nmain: exiting",
        "R llama_model_load: error loading model: missing tensor 'blk.#.ffn'",
    ),
    (&SEGV, "error: no GPU, using the CPU\nloading model", "L loading model"),
    (
        &EXIT,
        "Error: cannot read the model\n\nCaused by:\n    no such key",
        "R Error: cannot read the model | Caused by: no such key",
    ),
    // No line gives a reason.
    (
        &ABRT,
        "backend: cpu\narena: 76800 floats wanted, 17664 left",
        "L arena: # floats wanted, # left",
    ),
    (
        &SEGV,
        "warming up ...\n\nbash: line 1: 20219 Segmentation fault      ./c 1 2 3",
        "L warming up …",
    ),
    (&Ended::TimedOut, "tokenizing\nevaluating batch 17 of 400", "L evaluating batch # of #"),
    (
        &EXIT,
        "word error rate: 0.1\nmean error: 3e-5\n0 errors, no error\nwarning: error: soft\nmax error = 0.5",
        "L max error = #",
    ),
    (&SEGV, "", "L "),
];

pub(super) const BUILDS: [(&str, &str); 25] = [
    (
        "cc -Wall -Werror -Wno-error=unused -c error.c -o error.o\na.c: In function ‘main’:\na.c:2:42: error: ‘y’ undeclared (first use in this function)\n    2 | int main(void){ return helper(y); }\n      |                               ^\na.c:2:42: note: each undeclared identifier is reported only once\nmake: *** [Makefile:3: all] Error 1",
        "D a.c: error: 'y' undeclared (first use in this function)",
    ),
    (
        "w.c:1:21: error: unused variable ‘unused’ [-Werror=unused-variable]\ncc1: all warnings being treated as errors",
        "D w.c: error: unused variable 'unused' [-Werror=unused-variable]",
    ),
    (
        "/w/cache/slots/0/src/h.c:1:10: fatal error: nosuch.h: No such file or directory\n    1 | #include <nosuch.h>\ncompilation terminated.",
        "D h.c: fatal error: nosuch.h: No such file or directory",
    ),
    (
        "mul.cu(12): error: identifier \"warp\" is undefined\n\n1 error detected in the compilation of \"mul.cu\".",
        "D mul.cu: error: identifier \"warp\" is undefined",
    ),
    (
        "nvcc fatal   : Unsupported gpu architecture 'compute_20'",
        "D nvcc fatal : Unsupported gpu architecture 'compute_20'",
    ),
    (
        "gcc: error: unrecognized command-line option ‘-mnosuch’",
        "D gcc: error: unrecognized command-line option '-mnosuch'",
    ),
    (
        "a.c(5): error C2065: 'y': undeclared identifier",
        "D a.c: error C2065: 'y': undeclared identifier",
    ),
    (
        "/usr/bin/ld: /tmp/cc7sHTnv.o: in function `main':\nb.c:(.text+0xa): undefined reference to `helper'\ncollect2: error: ld returned 1 exit status",
        "D undefined reference to 'helper'",
    ),
    (
        "/usr/bin/ld: cannot find -lnosuch: No such file or directory\ncollect2: error: ld returned 1 exit status",
        "D cannot find -lnosuch",
    ),
    (
        "error: linking with `cc` failed: exit status: 1\n  = note: rust-lld: error: unable to find library -lnosuch\n          collect2: error: ld returned 1 exit status",
        "D unable to find library -lnosuch",
    ),
    (
        "/usr/bin/ld: b.o: multiple definition of `dot'; a.o:/w/a.c:3: first defined here",
        "D multiple definition of 'dot'",
    ),
    (
        "ld.lld: error: undefined symbol: dot\n>>> referenced by main.c\nclang: error: linker command failed with exit code 1 (use -v to see invocation)",
        "D undefined symbol: dot",
    ),
    (
        "error[E0308]: mismatched types\n --> src/main.rs:1:25\n  |\n1 | fn main(){ let x: i32 = \"a\"; }\n\nerror: aborting due to 1 previous error\nerror: could not compile `engine` (bin \"engine\") due to 1 previous error",
        "D error[E0308]: mismatched types --> src/main.rs",
    ),
    (
        "error: no matching package named `nosuch` found\nlocation searched: crates.io index",
        "R error: no matching package named 'nosuch' found",
    ),
    (
        "-- Could NOT find OpenMP (missing: OpenMP_C_FLAGS)\nCMake Error at /usr/share/cmake-3.25/Modules/FindPackageHandleStandardArgs.cmake:230 (message):\n  Could NOT find CURL (missing: CURL_LIBRARY CURL_INCLUDE_DIR)\nCall Stack (most recent call first):\n  CMakeLists.txt:3 (find_package)\n\n-- Configuring incomplete, errors occurred!",
        "R CMake Error at FindPackageHandleStandardArgs.cmake (message): Could NOT find CURL (missing: CURL_LIBRARY CURL_INCLUDE_DIR)",
    ),
    (
        "CMake Error at CMakeLists.txt:3 (find_package):\n  By not providing \"FindNoSuch.cmake\" in CMAKE_MODULE_PATH this project has\n  asked CMake to find a package configuration file provided by \"NoSuch\", but\n  CMake did not find one.\n",
        "R CMake Error at CMakeLists.txt (find_package): By not providing \"FindNoSuch.cmake\" in CMAKE_MODULE_PATH this project has asked CMake to find a package configuration file provided by \"NoSuch\", but",
    ),
    (
        "make: *** No rule to make target 'missing.c', needed by 'foo.o'.  Stop.",
        "D *** No rule to make target 'missing.c', needed by 'foo.o'. Stop.",
    ),
    ("Makefile:3: *** missing separator.  Stop.", "D Makefile: *** missing separator."),
    (
        "make: nvcc: No such file or directory\nmake: *** [M2:2: all] Error 127",
        "R nvcc: No such file or directory",
    ),
    ("/bin/sh: 1: nvcc: not found\nmake: *** [all] Error 127", "R nvcc: not found"),
    ("bash: line 1: cmake: command not found", "R cmake: command not found"),
    ("FAILED: a.o\nninja: build stopped: subcommand failed.", "L FAILED: a.o"),
    ("make: *** [Makefile:9: all] Error 1", "L make: *** [Makefile: all] Error #"),
    (
        "Traceback (most recent call last):\n  File \"setup.py\", line 1, in <module>\nImportError: no torch",
        "R ImportError: no torch in setup.py <module>",
    ),
    ("building 17\nerror: engine.c:1: broken", "R error: engine.c: broken"),
];
