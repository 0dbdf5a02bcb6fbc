//! What else differs between the first bad commit and its parent is found without being asked.

use serde_json::json;

use super::hunt;
use crate::kit::line;

#[test]
fn a_launch_configuration_that_the_change_names_is_told() {
    let kernel = |threads: u32| {
        format!("#include \"attn.cuh\"\n#define THREADS {threads}\nvoid launch() {{\n}}\n")
    };
    let plan = line("g g g b b")
        .file(0, "kernels/attn.cu", &kernel(384))
        .file(0, "model.py", "EPS = 1e-5\n")
        .file(2, "model.py", "EPS = 1e-6\n")
        .file(3, "kernels/attn.cu", &kernel(128))
        .file(4, "kernels/attn.cu", &kernel(256));
    let told = hunt(plan).finds("3").costs(8, 6);
    let differences = &told.hunt.report["culprit"]["differences"];
    let threads = json!({
        "in": "constant", "name": "THREADS", "place": "kernels/attn.cu",
        "before": "384", "now": "128",
    });
    assert_eq!(differences["found"], json!([threads]), "{differences:#}");
    assert!(differences["compared"].as_array().unwrap().contains(&json!("constant")));
    let said = "Constant: THREADS: 384 → 128 in kernels/attn.cu";
    assert!(told.hunt.output.stdout.contains(said), "{}", told.hunt.output.stdout);
    let page = told.hunt.file("report.md");
    assert!(page.contains("- Constant: THREADS: 384 → 128 in kernels/attn.cu"), "{page}");
    assert!(page.contains("| Constant | THREADS | 384 | 128 | kernels/attn.cu |"), "{page}");
    let html = told.hunt.file("report.html");
    assert!(html.contains("THREADS: 384 → 128 in kernels/attn.cu"));
    let issue = told.env().run(&["report", "--format", "issue"]).expect(0).stdout;
    assert!(issue.contains("- Constant: THREADS: 384 → 128 in kernels/attn.cu"), "{issue}");
}
