use super::*;

fn all(path: &str, text: &str) -> Names {
    names(path, text, 1, |_| Some(0)).remove(0)
}

fn list(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn declared(path: &str, text: &str) -> String {
    list(&all(path, text).declared)
}

#[test]
fn c_declares_functions_types_members_and_constants() {
    let header = "\
#ifndef T_H
#define LANES 4
#include \"pool.h\"
/* other */
struct tensor {
    int rows, cols;
    float *data;
};
enum { VEC = 4, PAIR };
typedef struct { int x; } point;
struct pool;
static inline int pack(struct tensor *t, int n) { int local = n; return other(local); }
void run(const char *name);
namespace ggml { class Kernel : public Base { void launch(int n) const; }; }
template <typename T> __global__ void k_norm(T *x);
#endif
";
    let found = all("include/t.h", header);
    assert_eq!(
        list(&found.declared),
        "Kernel LANES PAIR VEC cols data k_norm launch pack point rows run tensor x"
    );
    assert_eq!(list(&found.functions), "k_norm launch pack run");
    for used in ["other", "local", "name", "pool"] {
        assert!(found.used.contains(used), "{used}");
    }
    assert!(found.files.contains("pool.h") && found.has_imports && found.has_code);
}

#[test]
fn a_method_is_declared_elsewhere_too() {
    let found = all("a.cpp", "void Kernel::launch(int n) { call(n); }\n");
    assert!(found.declared.contains("launch") && found.used.contains("launch"));
    assert!(!found.declared.contains("call"));
}

#[test]
fn rust_and_python_declare_too() {
    let rust = "\
use super::pool::Pool;
pub(crate) struct Tensor { pub rows: usize, data: Vec<f32> }
enum Kind { Half, Whole(u8) }
impl Tensor { pub fn pack(&self) { let own = helper(); } }
const LANES: usize = 4;
mod packed;
";
    let found = all("src/a.rs", rust);
    assert_eq!(list(&found.declared), "Half Kind LANES Tensor Whole data pack rows");
    assert!(found.files.contains("pool") && found.files.contains("packed"));
    let python = "\
from .packed import pack
BLOCK = 4
class Model:
    def forward(self, x):
        self.cache = x
        local = pack(x)
";
    let found = all("model.py", python);
    assert_eq!(list(&found.declared), "BLOCK Model cache forward");
    assert!(found.used.contains("pack") && found.files.contains("packed"));
}

#[test]
fn build_files_name_sources() {
    let cmake = all("CMakeLists.txt", "set(FAST ON)\nadd_library(engine src/packed.c norm.cu)\n");
    assert_eq!(list(&cmake.declared), "FAST engine");
    assert!(cmake.files.contains("src/packed.c") && cmake.files.contains("norm.cu"));
    assert_eq!(declared("Makefile", "SRC += packed.c\nall: $(SRC)\n"), "SRC");
    let other = all("kernels/a.conf", "needs = kernels/table.txt # b.txt\n");
    assert!(other.files.contains("kernels/table.txt"));
}

#[test]
fn each_part_has_the_names_of_its_own_lines() {
    let text = "#include \"a.h\"\nint one(void);\n// words\nint two(void);\n";
    let found = names("a.c", text, 4, |line| Some(line).filter(|line| *line != 1));
    assert_eq!((list(&found[3].declared).as_str(), found[3].has_imports), ("two", false));
    assert!(found[0].has_imports && !found[0].has_code);
    assert_eq!([&found[1], &found[2]], [&Names::default(); 2]);
    assert!(words("a.c", text).contains("one") && !words("a.c", text).contains("words"));
}
