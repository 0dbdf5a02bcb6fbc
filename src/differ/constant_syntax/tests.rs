use super::*;

fn read(language: Language, line: &str) -> Option<(String, String)> {
    let named = language.read(line)?;
    assert!(!named.is_variable, "{line}");
    Some((named.name, named.value))
}

fn reads(language: Language, line: &str, name: &str, value: &str) {
    assert_eq!(read(language, line), Some((name.to_owned(), value.to_owned())), "{line}");
}

#[test]
fn in_c_and_its_kin() {
    let c = |line, name, value| reads(Language::C, line, name, value);
    c("#define BLOCK 384", "BLOCK", "384");
    c("  #  define  WARPS   ( 4 * 2 ) // per block", "WARPS", "( 4 * 2 )");
    c("#define FAST", "FAST", "");
    c("#define NAME \"a // b\" /* one */", "NAME", "\"a // b\"");
    c("constexpr int kThreads = 384;", "kThreads", "384");
    c("    static constexpr std::size_t tile = head(dim);", "tile", "head(dim)");
    c("constexpr float eps{1e-5f};", "eps", "{1e-5f}");
    c("inline constexpr uint32_t MASK = 0xffff'ffffU;", "MASK", "0xffff'ffffU");
    c("static const float SCALES[2] = {0.5f, 1.f};", "SCALES", "{0.5f, 1.f}");
    c("const int64_t n = sizeof(float) * WARP_SIZE + 2;", "n", "sizeof(float) * WARP_SIZE + 2");
    c("constant uint N_SIMD [[maybe_unused]] = 4;", "N_SIMD", "4");
    c("__constant__ float bias = -1.0f;", "bias", "-1.0f");
    c("    dim3 block(128, 1, 1);", "block", "(128, 1, 1)");
    c("const dim3 grid = dim3(n / 4);", "grid", "dim3(n / 4)");
    c("    MODE_FAST = 1 << 3,", "MODE_FAST", "1 << 3");
}

#[test]
fn in_rust_python_cmake_and_make() {
    reads(Language::Rust, "pub(crate) const LANES: usize = 8;", "LANES", "8");
    reads(Language::Rust, "static mut EPS: f32 = 1e-6; // small", "EPS", "1e-6");
    let python = |line, name, value| reads(Language::Python, line, name, value);
    python("BLOCK_M = 64  # rows", "BLOCK_M", "64");
    python("DTYPE = torch.float16", "DTYPE", "torch.float16");
    python("eps = 1e-5", "eps", "1e-5");
    python("    BLOCK_N: tl.constexpr = 128", "BLOCK_N", "128");
    python("NAME = 'a # b'", "NAME", "'a # b'");
    let cmake = |line, name, value| reads(Language::Cmake, line, name, value);
    cmake("option(FAST \"less exact (but fast)\" ON)", "FAST", "ON");
    cmake("OPTION( FAST \"less exact\" )", "FAST", "OFF");
    cmake("set(TILE \"16\" CACHE STRING \"rows\")", "TILE", "\"16\"");
    cmake(
        "  set(CMAKE_C_FLAGS \"${CMAKE_C_FLAGS} -O2\" PARENT_SCOPE)",
        "CMAKE_C_FLAGS",
        "\"${CMAKE_C_FLAGS} -O2\"",
    );
    let make = |line, name, value| reads(Language::Make, line, name, value);
    make("CFLAGS = -O3  -g # fast", "CFLAGS", "-O3 -g");
    make("CFLAGS += -ffast-math", "CFLAGS", "-ffast-math");
    make("export CC := gcc", "CC", "gcc");
}

#[test]
fn what_is_no_constant_is_passed_over() {
    let c = [
        "#define MAX(a, b) ((a) > (b) ? (a) : (b))",
        "#define LONG \\",
        "// #define BLOCK 384",
        "const int64_t ne00 = src0->ne[0];",
        "void f(const int x = 3);",
        "if (x == 3) return;",
        "static const float table[] = {",
        "for (int i = 0; i < 3; i++)",
        "return N = 4 + f(x);",
        " * const int x = 4 in a comment",
    ];
    for line in c {
        assert_eq!(Language::C.read(line), None, "{line}");
    }
    for line in ["\tCFLAGS=-O2 cmd", "all: build", "ifeq ($(A),b)"] {
        assert_eq!(Language::Make.read(line), None, "{line}");
    }
    for line in ["x == 3", "config = load(path)", "def f(x=3):", "TABLE = ["] {
        assert_eq!(Language::Python.read(line), None, "{line}");
    }
    let long = format!("#define LONG {}", "1".repeat(2000));
    assert_eq!(Language::C.read(&long), None);
}

#[test]
fn a_variable_is_known_as_one() {
    let variable = |language: Language, line, value| {
        let named = language.read(line).expect(line);
        assert_eq!((named.value.as_str(), named.is_variable), (value, true), "{line}");
    };
    variable(Language::C, "    int nthreads = 384;", "384");
    variable(Language::C, "  params.eps = 1e-5f;", "1e-5f");
    variable(Language::Rust, "let mut lanes: usize = 1 << 4;", "1 << 4");
    variable(Language::Python, "        num_warps=4,", "4");
    variable(Language::Python, "    eps = 1e-5", "1e-5");
}

#[test]
fn a_language_goes_by_the_name_of_the_file() {
    let of = Language::of;
    assert_eq!(of("src/kernels/attn.cu"), Some(Language::C));
    assert_eq!(of("cmake/CMakeLists.txt"), Some(Language::Cmake));
    assert_eq!(of("a/config.cmake.in"), Some(Language::Cmake));
    assert_eq!(of("Makefile"), Some(Language::Make));
    assert_eq!([of("README.md"), of("data/x.txt"), of("h")], [None; 3]);
    let specs = pathspecs();
    assert!(specs.contains(&":(top,glob)**/*.cu".to_owned()), "{specs:?}");
    assert!(specs.contains(&":(top,glob)**/CMakeLists.txt".to_owned()), "{specs:?}");
}
