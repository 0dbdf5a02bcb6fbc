//! Finds the model and the text that runs read.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, Metadata};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::ui;

use super::error::{InitError, NearMiss};
use super::tree::{Tree, ending};

/// Maximum number of file names to look at. Names near the top come first.
const MOST: usize = 40_000;
const DEEPEST: usize = 6;

/// Maximum number of near misses in a message.
const NAMED: usize = 3;

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

/// An input as the file will have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) kind: Kind,
    pub(super) path: String,
    /// How it was chosen.
    pub(super) why: String,
    pub(super) is_guess: bool,
}

/// The input that the user named. `folder` is the user's current folder, `base` the folder of
/// the new file.
pub(super) fn given(
    kind: Kind,
    path: &Path,
    folder: &Path,
    base: &Path,
) -> Result<Input, InitError> {
    let whole = folder.join(path);
    let missing = |source| InitError::Input { option: kind.name(), path: path.to_owned(), source };
    let about = fs::metadata(&whole).map_err(missing)?;
    if about.is_dir() {
        let inside = fs::read_dir(&whole).map_err(missing)?.flatten();
        let names: Vec<String> =
            inside.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        if names.is_empty() {
            return Err(InitError::EmptyInput(path.to_owned()));
        }
        if kind == Kind::Model && !names.iter().any(|name| is_of_a_model_folder(name)) {
            return Err(InitError::FolderAsModel {
                path: path.to_owned(),
                model: model_among(&names).map(|name| path.join(name)),
            });
        }
    }
    let why = format!("given with --{}", kind.name());
    Ok(Input { kind, path: written(&whole, base)?, why, is_guess: false })
}

/// Whether a file of this name shows that its folder is a model in the layout of Hugging Face,
/// which some engines take as a whole.
fn is_of_a_model_folder(name: &str) -> bool {
    name == "config.json" || ending(name) == "safetensors"
}

/// The likeliest model among the files of a folder.
fn model_among(names: &[String]) -> Option<&String> {
    let models = names.iter().filter_map(|name| match judge(name)? {
        (Kind::Model, score) => Some((score, name)),
        (Kind::Text, _) => None,
    });
    models.max_by_key(|(score, name)| (*score, std::cmp::Reverse(*name))).map(|(_, name)| name)
}

/// The likeliest input of this kind in the checkout, tracked or not.
pub(super) fn guessed(kind: Kind, found: &FoundInputs, base: &Path) -> Option<Input> {
    let fits = |candidate: &&Candidate| candidate.kind == kind;
    let best = found.candidates.iter().filter(fits).max_by_key(|c| c.rank())?;
    let count = found.candidates.iter().filter(fits).count();
    let noun = match kind {
        Kind::Model => "a model",
        Kind::Text => "a text to measure on",
    };
    let why = match count {
        1 => format!("a guess: the only file here that looks like {noun}"),
        count => format!("a guess: the likeliest of {count} files that look like {noun}"),
    };
    let path = written(&best.path, base).ok()?;
    Some(Input { kind, path: in_parts(&path), why, is_guess: true })
}

/// The path relative to the configuration's folder; absolute if it is outside that folder.
fn written(path: &Path, base: &Path) -> Result<String, InitError> {
    let real = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (path, base) = (real(path), real(base));
    let short = path.strip_prefix(&base).unwrap_or(&path);
    let text = short.to_str().ok_or_else(|| InitError::NotUtf8(path.clone()))?;
    // The shell has already expanded `~`. A path that still begins with `~` is a file's name.
    Ok(if text.starts_with('~') { format!("./{text}") } else { text.to_owned() })
}

/// Turns the first part of a split model into a glob for all parts: an engine that opens
/// `a-00001-of-00003.gguf` reads all of them, so all must be hashed.
fn in_parts(path: &str) -> String {
    let Some((before, behind)) = path.split_once("-00001-of-") else { return path.to_owned() };
    if path.contains(['*', '?', '[']) {
        return path.to_owned();
    }
    format!("{before}-*-of-{behind}")
}

/// Files that a user may mean by this kind of input, and why they were not taken, for a message.
/// `folder` is the user's current folder.
pub(super) fn near_misses(kind: Kind, found: &FoundInputs, folder: &Path) -> Vec<NearMiss> {
    let mut near: Vec<&Candidate> = found.near.iter().filter(|near| near.kind == kind).collect();
    near.sort_by_key(|near| std::cmp::Reverse(near.rank()));
    let near = near.into_iter().filter_map(|near| {
        let path = written(&near.path, folder).ok()?;
        Some(NearMiss { path, why: near.why_not() })
    });
    near.take(NAMED).collect()
}

/// The candidates found in the checkout.
#[derive(Debug, Default)]
pub(super) struct FoundInputs {
    candidates: Vec<Candidate>,
    /// Files whose names fit but whose sizes do not, and files whose names say too little.
    near: Vec<Candidate>,
    /// Whether the checkout has more than [`MOST`] names.
    pub(super) cut: bool,
}

#[derive(Debug)]
struct Candidate {
    kind: Kind,
    path: PathBuf,
    score: u32,
    size: u64,
}

impl Candidate {
    /// The order of candidates: a better name, then a larger file, then a path nearer to the top.
    fn rank(&self) -> (u32, u64, std::cmp::Reverse<usize>, std::cmp::Reverse<&Path>) {
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
    fn why_not(&self) -> String {
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
fn judge(name: &str) -> Option<(Kind, u32)> {
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
mod tests {
    use super::*;

    fn checkout(files: &[(&str, usize)]) -> (tempfile::TempDir, Tree) {
        let folder = tempfile::tempdir().unwrap();
        for (name, size) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![b'x'; *size]).unwrap();
        }
        let tree = Tree::of(folder.path(), "", Vec::new());
        (folder, tree)
    }

    #[track_caller]
    fn guess(files: &[(&str, usize)], kind: Kind) -> Option<String> {
        let (folder, tree) = checkout(files);
        guessed(kind, &look(&tree), folder.path()).map(|input| input.path)
    }

    #[test]
    fn the_largest_of_the_likeliest_is_taken() {
        let files = [
            ("models/ggml-vocab-llama.gguf", 900_000),
            ("models/small.gguf", 100_000),
            ("models/large.gguf", 200_000),
            ("data/model.bin", 300_000),
            ("tokenizer.bin", 400_000),
            ("target/huge.gguf", 500_000),
        ];
        assert_eq!(guess(&files, Kind::Model).as_deref(), Some("models/large.gguf"));
        assert_eq!(guess(&files[3..], Kind::Model).as_deref(), Some("data/model.bin"));
        assert_eq!(guess(&files[4..5], Kind::Model), None);
    }

    #[test]
    fn texts_are_known_by_their_names() {
        let files = [
            ("CMakeLists.txt", 9_000),
            ("data/corpus.txt", 9_000),
            ("wikitext/wiki.test.raw", 5_000),
            ("wikitext/wiki.train.raw", 9_000),
        ];
        assert_eq!(guess(&files, Kind::Text).as_deref(), Some("wikitext/wiki.test.raw"));
        assert_eq!(guess(&files[..2], Kind::Text).as_deref(), Some("data/corpus.txt"));
        assert_eq!(guess(&files[..1], Kind::Text), None);
    }

    #[test]
    fn near_misses_are_named_with_the_reason() {
        let files = [
            ("models/tiny.gguf", 9_000),
            ("models/old.pth", 70_000),
            ("tokenizer.bin", 9_000),
            ("data/val.txt", 9_000),
            ("data/corpus.txt", 100),
            ("data/short.txt", 100),
            ("LICENSE.txt", 9_000),
        ];
        let (folder, tree) = checkout(&files);
        let found = look(&tree);
        assert!(guessed(Kind::Model, &found, folder.path()).is_none());
        assert!(guessed(Kind::Text, &found, folder.path()).is_none());
        let near = |kind: Kind, from: &str| -> Vec<String> {
            let near = near_misses(kind, &found, &folder.path().join(from));
            near.into_iter().map(|near| format!("{}: {}", near.path, near.why)).collect()
        };
        assert_eq!(
            near(Kind::Model, ""),
            [
                "models/tiny.gguf: 8.8 KiB; init takes no smaller file than 64.0 KiB",
                "models/old.pth: 68.4 KiB; init does not know this ending as a model's",
            ]
        );
        assert_eq!(
            near(Kind::Text, "data"),
            [
                "corpus.txt: 100 B; init takes no smaller file than 2.0 KiB",
                "val.txt: 8.8 KiB; the name does not say that it is a text to measure on",
            ]
        );
    }

    #[test]
    fn a_folder_is_no_model_unless_it_is_laid_out_as_one() {
        let (folder, _) =
            checkout(&[("models/b.gguf", 9), ("models/a.gguf", 9), ("hf/config.json", 9)]);
        let given = |path: &str| given(Kind::Model, Path::new(path), folder.path(), folder.path());
        let refused = given("models").unwrap_err();
        assert_eq!(refused.to_string(), "--model models is a folder; init needs the model's file");
        assert_eq!(refused.hint().unwrap(), "name the file: --model models/a.gguf");
        assert_eq!(given("hf").unwrap().path, "hf");
    }

    #[test]
    fn a_model_in_parts_is_hashed_whole() {
        let files = [("m-00001-of-00002.gguf", 70_000), ("m-00002-of-00002.gguf", 90_000)];
        assert_eq!(guess(&files, Kind::Model).as_deref(), Some("m-*-of-00002.gguf"));
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

    #[test]
    fn what_lies_outside_is_named_whole() {
        let (folder, _) = checkout(&[("a/m.gguf", 9), ("b/c", 1)]);
        let base = folder.path().join("b");
        let input = given(Kind::Model, Path::new("a/m.gguf"), folder.path(), &base).unwrap();
        assert_eq!(Path::new(&input.path), folder.path().join("a/m.gguf"));
        let input = given(Kind::Text, Path::new("b/c"), folder.path(), &base).unwrap();
        assert_eq!(input.path, "c");
        assert!(given(Kind::Text, Path::new("none"), folder.path(), &base).is_err());
    }
}
