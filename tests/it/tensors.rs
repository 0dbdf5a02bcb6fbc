//! `diff tensors` on dumps of every format.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::kit::{Output, TestEnvironment};

/// A `.npy` file of f32 with two rows.
fn npy(path: &Path, values: &[f32]) {
    let shape = format!("(2, {})", values.len() / 2);
    let literal = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(literal.len()).unwrap().to_le_bytes());
    bytes.extend(literal.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    fs::write(path, bytes).unwrap();
}

/// A folder as `inspect dump` writes it. The third value of a tensor is given, the others are 1.
fn folder(path: &Path, tensors: &[(&str, f32)]) {
    fs::create_dir_all(path).unwrap();
    let mut list = String::new();
    for (number, (name, value)) in tensors.iter().enumerate() {
        npy(&path.join(format!("{number:03}_{name}.npy")), &[1.0, 1.0, *value, 1.0]);
        writeln!(list, "{number:03} {name} 2x2").unwrap();
    }
    fs::write(path.join("index.txt"), list).unwrap();
}

/// A `.safetensors` file of tensors of two f32, in this order of the header.
fn archive(path: &Path, tensors: &[(&str, [f32; 2])], order: Option<&[&str]>) {
    let mut entries = Vec::new();
    if let Some(order) = order {
        let text = serde_json::to_string(&serde_json::to_string(order).unwrap()).unwrap();
        entries.push(format!(r#""__metadata__":{{"order":{text}}}"#));
    }
    for (number, (name, _)) in tensors.iter().enumerate() {
        let (begin, end) = (8 * number, 8 * number + 8);
        entries.push(format!(
            r#""{name}":{{"dtype":"F32","shape":[1,2],"data_offsets":[{begin},{end}]}}"#
        ));
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(tensors.iter().flat_map(|(_, values)| values).flat_map(|x| x.to_le_bytes()));
    fs::write(path, bytes).unwrap();
}

/// A graph as llama-eval-callback prints it: a norm, a query, its rotation, and a weight's name.
fn printed(rotated: f32) -> String {
    let tensor = |name: &str, operation: &str, operands: &str, values: [f32; 2]| {
        let [a, b] = values;
        let sum = a + b;
        format!(
            "common_debug_cb_eval: {name:>24} = (f32) {operation:>10}({operands}}}) = {{2, 1, 1, 1}}\n    \
             [\n     [\n      [ {a:11.4}, {b:11.4}  ],\n     ],\n    ]\n    sum = {sum:.6}\n"
        )
    };
    [
        "build: 1234 (abc)\n".to_owned(),
        tensor("attn_norm-0", "MUL", "norm-0{2, 1, 1, 1}, w{2, 1, 1, 1}", [0.5, 0.25]),
        tensor(
            "Qcur-0",
            "MUL_MAT",
            "blk.0.attn_q.weight{2, 2, 1, 1}, attn_norm-0{2, 1, 1, 1}",
            [1.0, 2.0],
        ),
        tensor("Qcur-0", "ROPE", "Qcur-0{2, 1, 1, 1}, inp_pos{1, 1, 1, 1}", [rotated, 2.0]),
    ]
    .concat()
}

fn diff(env: &TestEnvironment, args: &[&str]) -> Output {
    let words: Vec<&str> = ["diff", "tensors"].iter().chain(args).copied().collect();
    env.run_in(&env.path("tmp"), &words)
}

fn json(env: &TestEnvironment, args: &[&str]) -> Value {
    let words: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&diff(env, &words).stdout).unwrap()
}

#[test]
fn the_first_different_tensor_is_shown_with_its_inputs_and_its_neighbours() {
    let env = TestEnvironment::new();
    folder(&env.path("tmp/a"), &[("blk0.q", 1.0), ("blk0.q_rope", 1.0), ("blk0.attn", 1.0)]);
    folder(&env.path("tmp/b"), &[("blk0.q", 1.00001), ("blk0.q_rope", 3.0), ("blk0.attn", 1.0)]);
    insta::assert_snapshot!(diff(&env, &["a", "b"]).expect(1).stdout, @r"
    A  a (3 tensors)
    B  b (3 tensors)
    3 pairs compared, 1 beyond the tolerance

    First different tensor: blk0.q_rope
      max |Δ| 2, tolerance 0.0001
      first position 1, worst position 1
      largest difference: 1 → 3
      its input blk0.q is within its tolerance (max |Δ| 0.00001)

      tensor       shape  max |Δ|  mean |Δ|  RMS of Δ       cosine  tolerance
      blk0.q       2 × 2  0.00001    2.5e-6   5.01e-6  1 − 9.4e-12     0.0001
    * blk0.q_rope  2 × 2        2       0.5         1      0.86603     0.0001
      blk0.attn    2 × 2        0         0         0            1     0.0001

    What it looks like:
      rotary embedding: blk0.q before it is within its tolerance, blk0.q_rope after the rotation is not
      a bug, not rounding: max |Δ| of blk0.q_rope is 2, RMS of Δ is 1 of its RMS
    ");
    insta::assert_snapshot!(diff(&env, &["a", "a"]).expect(0).stdout, @r"
    A  a (3 tensors)
    B  a (3 tensors)
    3 pairs compared, 0 beyond the tolerance

    No tensor is beyond its tolerance.

      tensor       shape  max |Δ|  mean |Δ|  RMS of Δ  cosine  tolerance
      blk0.q       2 × 2        0         0         0       1     0.0001
      blk0.q_rope  2 × 2        0         0         0       1     0.0001
      blk0.attn    2 × 2        0         0         0       1     0.0001
    ");
    let found = json(&env, &["a", "b"]);
    assert_eq!(found["schema"], "bisect-ppl/diff-tensors/1");
    assert_eq!(found["first_different"], "blk0.q_rope");
    assert_eq!(found["tensors"][1]["max_abs"], 2.0);
    assert_eq!(found["tensors"][1]["level"], "layer");
    assert_eq!(found["inputs"][0]["is_clean"], true);
    assert_eq!(found["inputs"][0]["verdict"], "within");
    assert_eq!(found["patterns"][0]["kind"], "rotation");
    assert_eq!(found["order"], "listed");
}

#[test]
fn a_renamed_tensor_before_the_first_different_one_is_told() {
    let env = TestEnvironment::new();
    let order = ["embd", "blk0.mix", "blk0.attn_out"];
    let renamed = ["embd", "blk0.mixed", "blk0.attn_out"];
    let named = |names: [&'static str; 3], values: [f32; 3]| -> Vec<(&str, [f32; 2])> {
        names.into_iter().zip(values.map(|value| [value, 1.0])).collect()
    };
    let write = |name: &str, names: [&'static str; 3], values: [f32; 3]| {
        archive(&env.path(name), &named(names, values), Some(&names));
    };
    write("a.safetensors", order, [1.0, 2.0, 3.0]);
    write("b.safetensors", renamed, [1.0, 2.5, 3.5]);
    let files = ["a.safetensors", "b.safetensors"].map(|name| env.path(name).display().to_string());
    let found = json(&env, &[&files[0], &files[1]]);
    assert_eq!(found["unmatched_before"], serde_json::json!([["blk0.mix"], ["blk0.mixed"]]));
    diff(&env, &[&files[0], &files[1]]).expect(1).says(&[
        "First different tensor: blk0.attn_out",
        "  blk0.mix and blk0.mixed right before it have no partner, so the difference may begin there",
    ]);
}

#[test]
fn a_dump_of_a_harmless_commit_widens_the_tolerances() {
    let env = TestEnvironment::new();
    for (name, value) in [("a", 1.0), ("b", 1.5), ("again", 1.0), ("harmless", 1.25)] {
        folder(&env.path("tmp").join(name), &[("x", value)]);
    }
    diff(&env, &["a", "b", "--noise", "again"]).expect(1);
    let wide = diff(&env, &["a", "b", "--noise", "again", "--noise", "harmless"]).expect(0);
    assert!(wide.stdout.contains("No tensor is beyond its tolerance."), "{}", wide.stdout);
}

#[test]
fn the_order_comes_from_a_list_or_is_said_to_be_assumed() {
    let env = TestEnvironment::new();
    let at = |name: &str| env.path("tmp").join(name);
    let tensors = |x: f32| [("late", [x, 1.0]), ("early", [x, 1.0])];
    let listed: &[&str] = &["early", "late"];
    for (name, x, order) in
        [("a", 1.0, Some(listed)), ("b", 2.0, Some(listed)), ("c", 1.0, None), ("d", 2.0, None)]
    {
        archive(&at(&format!("{name}.safetensors")), &tensors(x), order);
    }
    let found = json(&env, &["a.safetensors", "b.safetensors"]);
    assert_eq!((&found["first_different"], &found["order"]), (&"early".into(), &"listed".into()));
    let found = json(&env, &["c.safetensors", "d.safetensors"]);
    assert_eq!((&found["first_different"], &found["order"]), (&"late".into(), &"offset".into()));
    let shown = diff(&env, &["c.safetensors", "d.safetensors"]).stdout;
    assert!(
        shown.contains("The order of the tensors is assumed: by the places in the file"),
        "{shown}"
    );
    // A list beside the file.
    fs::write(at("c.order.txt"), "early\nlate\n").unwrap();
    let found = json(&env, &["c.safetensors", "d.safetensors"]);
    assert_eq!((&found["first_different"], &found["order"]), (&"early".into(), &"listed".into()));
    // Files without a list: numbers are in their order.
    for (folder, x) in [("e", 1.0), ("f", 2.0)] {
        fs::create_dir(at(folder)).unwrap();
        npy(&at(folder).join("layer10.npy"), &[x, x]);
        npy(&at(folder).join("layer2.npy"), &[x, x]);
    }
    let found = json(&env, &["e", "f"]);
    assert_eq!(
        (&found["first_different"], &found["order"]),
        (&"layer2".into(), &"file-names".into())
    );
    // Files of several steps: names begin with the file's.
    for (folder, x) in [("g", 1.0), ("h", 2.0)] {
        fs::create_dir(at(folder)).unwrap();
        archive(&at(folder).join("step0.safetensors"), &[("loss", [1.0, 1.0])], Some(&["loss"]));
        archive(&at(folder).join("step1.safetensors"), &[("loss", [x, 1.0])], Some(&["loss"]));
    }
    let found = json(&env, &["g", "h"]);
    assert_eq!((&found["first_different"], &found["axis"]), (&"step1.loss".into(), &"step".into()));
}

#[test]
fn the_output_of_eval_callback_has_operations_and_operands() {
    let env = TestEnvironment::new();
    fs::write(env.path("tmp/a.txt"), printed(3.0)).unwrap();
    fs::write(env.path("tmp/b.txt"), printed(3.5)).unwrap();
    insta::assert_snapshot!(diff(&env, &["a.txt", "b.txt"]).expect(1).stdout, @r"
    A  a.txt (3 tensors)
    B  b.txt (3 tensors)
    3 pairs compared, 1 beyond the tolerance

    First different tensor: Qcur-0 (ROPE)
      max |Δ| 0.5, tolerance 0.0001
      largest difference: 3 → 3.5
      computed by ROPE
      its input Qcur-0 (MUL_MAT) is clean (max |Δ| 0)

      tensor            shape  max |Δ|  mean |Δ|  RMS of Δ   cosine  tolerance
      attn_norm-0       2            0         0         0        1     0.0001
      Qcur-0 (MUL_MAT)  2            0         0         0        1     0.0001
    * Qcur-0 (ROPE)     2          0.5      0.25     0.354  0.99763     0.0001

    What it looks like:
      rotary embedding: Qcur-0 (MUL_MAT) before it is clean, Qcur-0 (ROPE) after the rotation is not

    Only printed values were compared: the first and last three of each dimension, with four
    decimals. A tensor that looks equal may differ elsewhere, if no sum of all its values is printed.
    ");
    // A NaN that is not printed shows in the sum.
    let hidden = printed(3.0).replace("sum = 3.000000\n", "sum = nan\n");
    fs::write(env.path("tmp/nan.txt"), hidden).unwrap();
    let found = json(&env, &["a.txt", "nan.txt"]);
    assert_eq!(found["first_different"], "Qcur-0 (MUL_MAT)");
    assert_eq!(found["patterns"][1]["kind"], "non-finite");
    // Four decimals are compared, so the last one may differ.
    fs::write(env.path("tmp/c.txt"), printed(3.0001)).unwrap();
    diff(&env, &["a.txt", "c.txt"]).expect(0);
    fs::write(env.path("tmp/d.txt"), printed(3.0002)).unwrap();
    diff(&env, &["a.txt", "d.txt"]).expect(1);
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_cure() {
    let env = TestEnvironment::new();
    let at = |name: &str| env.path("tmp").join(name);
    folder(&at("a"), &[("x", 1.0), ("y", 1.0)]);
    folder(&at("cut"), &[("x", 1.0), ("y", 1.0)]);
    let file = at("cut/001_y.npy");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 4]).unwrap();
    folder(&at("lacks"), &[("x", 1.0), ("y", 1.0)]);
    fs::remove_file(at("lacks/001_y.npy")).unwrap();
    fs::create_dir(at("empty")).unwrap();
    fs::write(at("log.txt"), "no tensor\n").unwrap();
    fs::write(at("whole.txt"), printed(1.0)).unwrap();
    fs::write(at("half.txt"), &printed(1.0).trim_end()[..printed(1.0).len() - 40]).unwrap();
    for (other, why) in [
        ("cut", "cut/001_y.npy: the file ends early"),
        ("lacks", "lacks/index.txt: it lists `y`, which is not there"),
        ("empty", "empty: the folder has no .npy and no .safetensors files"),
        ("log.txt", "log.txt: it is no .npy, no .safetensors and no output of llama-eval-callback"),
        ("half.txt", "half.txt: it ends early, after Qcur-0: Qcur-0 is cut"),
        ("whole.txt", "they have no tensor in common (`x`, `attn_norm-0`)"),
        ("gone", "cannot read gone"),
    ] {
        let output = diff(&env, &["a", other]).expect(2);
        assert!(output.stderr.contains(why), "{other}: {}", output.stderr);
        assert!(output.stderr.contains("hint: "), "{other}: {}", output.stderr);
    }
    // Tensors that were never printed do not count as equal.
    let begin = printed(1.0).rfind("common_debug_cb_eval").unwrap();
    fs::write(at("early.txt"), &printed(1.0)[..begin]).unwrap();
    let output = diff(&env, &["whole.txt", "early.txt"]).expect(2);
    assert!(output.stderr.contains("B ends early, after Qcur-0"), "{}", output.stderr);
    let unknown = env.run_in(&at(""), &["diff", "weights"]).expect(2);
    assert!(
        unknown.stderr.contains("`bisect-ppl diff weights` does not exist"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn pytorch_writes_dumps_that_are_read() {
    let env = TestEnvironment::new();
    let has_torch = |python: &&str| {
        env.tool(&env.repo(), "sh", &["-c", &format!("{python} -c 'import torch'")]).code()
            == Some(0)
    };
    let Some(python) = ["python3", "/usr/bin/python3"].into_iter().find(has_torch) else {
        println!("skipped: PyTorch is not here (apt-get install python3-torch)");
        return;
    };
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    env.tool(&env.path("tmp"), python, &["-c", TORCH, scripts.to_str().unwrap()]).expect(0);
    let found = json(&env, &["a.safetensors", "b.safetensors"]);
    assert_eq!(found["first_different"], "layers.1.mlp");
    assert_eq!(found["order"], "listed");
    let names: Vec<&str> = found["tensors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    let layer = |n: usize| ["q_proj", "mlp", "mlp#2"].map(|name| format!("layers.{n}.{name}"));
    let mut expected = vec!["embed_tokens".to_owned()];
    for number in 0..2 {
        expected.extend(layer(number));
        expected.push(format!("layers.{number}"));
    }
    expected.push("model".to_owned());
    assert_eq!(names, expected);
    assert_eq!(found["tensors"][1]["operation"], "Linear");
    let found = json(&env, &["grad-a.safetensors", "grad-b.safetensors"]);
    assert_eq!(found["tensors"][0]["level"], "embedding-gradient");
    assert_eq!(found["tensors"][1]["level"], "gradient");
    // bfloat16 is written as it is.
    let found = json(&env, &["a.safetensors", "half.safetensors"]);
    assert_eq!(found["compared"], 10);
    let tolerance = found["tensors"][9]["tolerance"].as_f64().unwrap();
    assert!(tolerance > 1e-4, "{tolerance}");
}

/// A small model, dumped before and after a weight of layer 1 changes.
const TORCH: &str = "
import sys
sys.path.insert(0, sys.argv[1])
import torch
from dump_tensors import dump, dump_gradients
torch.manual_seed(1)
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj, self.mlp = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
    def forward(self, x):
        return x + self.mlp(self.mlp(self.q_proj(x)))
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = torch.nn.Embedding(10, 8)
        self.layers = torch.nn.ModuleList([Block(), Block()])
    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return x
model, tokens = Model(), torch.arange(6)
def gradients(path):
    model.zero_grad()
    model(tokens).square().sum().backward()
    dump_gradients(model, path)
with dump(model, 'a.safetensors'):
    model(tokens)
gradients('grad-a.safetensors')
with torch.no_grad():
    model.layers[1].mlp.weight[3, 3] += 0.5
with dump(model, 'b.safetensors'):
    model(tokens)
gradients('grad-b.safetensors')
with dump(model.bfloat16(), 'half.safetensors'):
    model(tokens)
";
