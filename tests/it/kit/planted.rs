//! Repositories of a little engine that is really built; one commit makes its perplexity worse.

use std::fs;
use std::path::Path;

use super::TestEnvironment;

/// A little engine in C: a model of bytes, smoothed by a constant that a commit may change.
pub(crate) const PPL_C: &str = r#"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "score.h"

int main(int argc, char **argv)
{
    const char *model = NULL, *text = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-m") || !strcmp(argv[i], "--model")) model = argv[i + 1];
        else if (!strcmp(argv[i], "-f")) text = argv[i + 1]; /* the text file */
        else return fprintf(stderr, "usage: %s --model FILE -f FILE\n", argv[0]), 2;
    }
    double nll = 0;
    long count = 0;
    if (!score(model, text, &nll, &count)) return 1;
    fprintf(stderr, "perplexity: calculating perplexity over 1 chunks\n");
    printf("[1]%.6f,\n", exp(nll / count));
    printf("Final estimate: PPL = %.6f +/- 0.01\n", exp(nll / count));
    return 0;
}
"#;

pub(crate) const SCORE_H: &str =
    "int score(const char *model, const char *text, double *nll, long *count);\n";

pub(crate) fn score_c(smoothing: &str) -> String {
    format!(
        r#"
#include <math.h>
#include <stdio.h>
#include "score.h"

int score(const char *model, const char *text, double *nll, long *count)
{{
    double seen[256] = {{0}}, total = 0;
    FILE *f = model ? fopen(model, "rb") : NULL;
    int c;
    if (!f) return 0;
    while ((c = fgetc(f)) != EOF) seen[c]++, total++;
    fclose(f);
    if (!(f = text ? fopen(text, "rb") : NULL)) return 0;
    while ((c = fgetc(f)) != EOF)
        *nll -= log((seen[c] + {smoothing}) / (total + 256 * {smoothing})), ++*count;
    fclose(f);
    return *count > 0;
}}
"#
    )
}

/// The same engine in Rust, with other options and output.
pub(crate) const MAIN_RS: &str = r#"
mod score;

fn main() {
    let mut model = None;
    let mut text = None;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--model" => model = words.next(),
            "--text" => text = words.next(),
            _ => panic!("unknown option {word}"),
        }
    }
    let read = |path: Option<String>| std::fs::read(path.expect("a path")).expect("a file");
    let (model, text) = (read(model), read(text));
    for chunk in 1..=2 {
        let part = &text[..text.len() * chunk / 2];
        println!("chunk {chunk}: perplexity so far {:.6}", score::of(&model, part).exp());
    }
    println!("perplexity of the text: {:.6}", score::of(&model, &text).exp());
}
"#;

pub(crate) fn score_rs(smoothing: &str) -> String {
    format!(
        "pub fn of(model: &[u8], text: &[u8]) -> f64 {{
    let mut seen = [0.0_f64; 256];
    model.iter().for_each(|byte| seen[usize::from(*byte)] += 1.0);
    let total = model.len() as f64 + 256.0 * {smoothing};
    let nll = |byte: &u8| -((seen[usize::from(*byte)] + {smoothing}) / total).ln();
    text.iter().map(nll).sum::<f64>() / text.len() as f64
}}
"
    )
}

/// A repository of five commits; the fourth changes one file so that the perplexity gets worse.
pub(crate) struct Planted {
    pub env: TestEnvironment,
    pub culprit: String,
}

pub(crate) fn planted(files: &[(&str, &str)], at: &str, score: fn(&str) -> String) -> Planted {
    let env = TestEnvironment::new();
    for (name, text) in files {
        put(&env.repo().join(name), text.as_bytes());
    }
    put(&env.repo().join(at), score("0.5").as_bytes());
    put(&env.repo().join(".gitignore"), b"*.bin\ncorpus.txt\noracle.toml\n");
    commit(&env, "the engine");
    env.git(&["tag", "v1"]);
    for (number, smoothing) in ["0.5000001", "0.5000002", "40.0", "40.00001"].iter().enumerate() {
        put(&env.repo().join(at), score(smoothing).as_bytes());
        commit(&env, &format!("change {number}"));
    }
    let culprit = env.git(&["rev-parse", "HEAD~1"]).trim().to_owned();
    // Not tracked; `init` finds them anyway.
    put(&env.repo().join("models/model.bin"), &letters(100_000));
    put(&env.repo().join("data/corpus.txt"), &letters(5_000));
    Planted { env, culprit }
}

/// Bytes with a distribution as uneven as that of letters.
pub(crate) fn letters(count: u32) -> Vec<u8> {
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let x = f64::from(state >> 8) / f64::from(1_u32 << 24);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 26")]
        let letter = (26.0 * x * x * x) as u8;
        b'a' + letter
    };
    (0..count).map(|_| next()).collect()
}

pub(crate) fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

pub(crate) fn commit(env: &TestEnvironment, subject: &str) {
    env.git(&["add", "--all"]);
    env.git(&["commit", "--quiet", "-m", subject]);
}
