//! The files of a checkout that may be the model or the text, by their names and sizes.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, Metadata};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::ui;

use super::tree::Tree;

/// Maximum number of file names to look at. Names near the top come first.
const MOST: usize = 40_000;
const DEEPEST: usize = 6;

/// Folders of build results and of other tools.
const SKIPPED: [&str; 6] = ["target", "node_modules", "build", "vendor", "third_party", "venv"];

/// The kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Model,
    Text,
}

impl Kind {
    /// The name in `[inputs]`, which is also the name of the command-line option.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Text => "text",
        }
    }

    /// The plausible sizes in bytes.
    fn sizes(self) -> Range<u64> {
        match self {
            Self::Model => 64 * 1024..u64::MAX,
            Self::Text => 2 * 1024..512 * 1024 * 1024,
        }
    }
}

/// The candidates found in the checkout.
#[derive(Debug, Default)]
pub(super) struct FoundInputs {
    pub(super) candidates: Vec<Candidate>,
    /// Files whose names fit but whose sizes do not, and files whose names say too little.
    pub(super) near: Vec<Candidate>,
    /// Whether the checkout has more than [`MOST`] names.
    pub(super) cut: bool,
}

/// A file that may be the model or the text.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) kind: Kind,
    pub(super) path: PathBuf,
    score: u32,
    size: u64,
}

impl Candidate {
    /// The order of candidates: a better name, then a larger file, then a path nearer to the top.
    pub(super) fn rank(&self) -> (u32, u64, std::cmp::Reverse<usize>, std::cmp::Reverse<&Path>) {
        let depth = self.path.components().count();
        (self.score, self.size, std::cmp::Reverse(depth), std::cmp::Reverse(&self.path))
    }
}

/// Searches the checkout level by level. Links to folders are followed.
pub(super) fn look(tree: &Tree) -> FoundInputs {
    let mut found = FoundInputs::default();
    let mut queue: VecDeque<(PathBuf, usize)> = [(tree.top().to_owned(), 0)].into();
    let top = fs::metadata(tree.top()).map(|about| (about.dev(), about.ino()));
    let mut seen: HashSet<(u64, u64)> = top.into_iter().collect();
    let mut left = MOST;
    while let Some((folder, depth)) = queue.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            if left == 0 {
                found.cut = true;
                return found;
            }
            left -= 1;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let is_hidden = name.starts_with('.') || SKIPPED.contains(&&*name);
            if kind.is_file() || kind.is_symlink() {
                let judged = judge(&name).or_else(|| judge_loosely(&name).map(|kind| (kind, 0)));
                let candidate = judged.and_then(|(kind, score)| {
                    let about = fs::metadata(&path).ok().filter(Metadata::is_file)?;
                    Some(Candidate { kind, path: path.clone(), score, size: about.len() })
                });
                match candidate {
                    Some(it) if it.score > 0 && it.is_sensible() => found.candidates.push(it),
                    Some(it) if it.score > 0 || it.is_sensible() => found.near.push(it),
                    _ => {}
                }
            }
            if is_hidden || depth == DEEPEST || kind.is_file() {
                continue;
            }
            // A loop of links leads to a folder that was seen already.
            if let Ok(about) = fs::metadata(&path)
                && about.is_dir()
                && seen.insert((about.dev(), about.ino()))
            {
                queue.push_back((path, depth + 1));
            }
        }
    }
    found
}

impl Candidate {
    /// Whether the size is plausible for this kind of input.
    fn is_sensible(&self) -> bool {
        self.kind.sizes().contains(&self.size)
    }

    /// Why a near miss was not taken.
    pub(super) fn why_not(&self) -> String {
        let (size, sizes) = (ui::text::bytes(self.size), self.kind.sizes());
        match self.kind {
            _ if self.size < sizes.start => {
                format!("{size}; init takes no smaller file than {}", ui::text::bytes(sizes.start))
            }
            _ if self.size >= sizes.end => {
                format!("{size}; init takes no larger file than {}", ui::text::bytes(sizes.end))
            }
            Kind::Model => format!("{size}; init does not know this ending as a model's"),
            Kind::Text => format!("{size}; the name does not say that it is a text to measure on"),
        }
    }
}

/// The kind of a file by its name, and a score; `None` if it is neither model nor text.
pub(super) fn judge(name: &str) -> Option<(Kind, u32)> {
    let name = name.to_lowercase();
    let (stem, ending) = name.rsplit_once('.')?;
    let is = |words: &[&str]| words.iter().any(|word| stem.contains(word));
    let model = |score: u32| {
        let other = is(&["vocab", "tokenizer", "mmproj", "imatrix", "lora"]);
        let later = stem.contains("-of-") && !stem.contains("-00001-of-");
        (!other && !later).then_some((Kind::Model, score))
    };
    match ending {
        "gguf" => model(4),
        "safetensors" | "ggml" => model(3),
        "bin" if is(&["model", "ggml", "stories", "weights", "ckpt", "checkpoint"]) => model(2),
        "bin" => model(1),
        "raw" if is(&["wiki"]) => Some((Kind::Text, 5 + u32::from(stem.contains("test")))),
        "raw" => Some((Kind::Text, 3)),
        "txt" if is_other_text(stem) => None,
        "txt" if is(&["corpus", "wiki", "eval", "perplexity", "ppl", "text8"]) => {
            Some((Kind::Text, 4))
        }
        "txt" if is(&["text", "shakespeare", "book", "stories"]) => Some((Kind::Text, 2)),
        _ => None,
    }
}

/// The kind that a file may have. Its name says too little to take it as an input.
fn judge_loosely(name: &str) -> Option<Kind> {
    let name = name.to_lowercase();
    let (stem, ending) = name.rsplit_once('.')?;
    match ending {
        "pt" | "pth" | "onnx" | "npz" | "h5" | "msgpack" | "tflite" | "q40" | "q80" => {
            Some(Kind::Model)
        }
        "txt" | "text" if !is_other_text(stem) => Some(Kind::Text),
        _ => None,
    }
}

/// Whether a `.txt` file of this name is for something else, such as CMake or a license.
fn is_other_text(stem: &str) -> bool {
    let others = ["cmakelists", "requirements", "license", "licence", "readme", "notice"];
    others.iter().any(|word| stem.contains(word))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A checkout with these files of these sizes.
    pub(in crate::init) fn checkout(files: &[(&str, usize)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        for (name, size) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![b'x'; *size]).unwrap();
        }
        let tree = Tree::of(folder.path(), "", Vec::new());
        (folder, tree)
    }

    #[test]
    fn links_are_followed_once() {
        let (folder, tree) = checkout(&[("elsewhere/a.gguf", 70_000)]);
        let link = |to: &str, at: &str| {
            std::os::unix::fs::symlink(to, folder.path().join(at)).unwrap();
        };
        link("..", "elsewhere/loop");
        link("elsewhere", "models");
        link("nothing.gguf", "gone.gguf");
        let found = look(&tree);
        assert_eq!(found.candidates.len(), 1, "{found:?}");
        assert!(!found.cut);
    }
}
