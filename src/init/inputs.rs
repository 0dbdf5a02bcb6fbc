//! The model and the text that runs read: as the user named them, or the likeliest files of the
//! checkout.

use std::fs;
use std::path::Path;

use super::error::{InitError, NearMiss};
use super::input_candidates::{Candidate, FoundInputs, Kind, judge};
use super::tree::ending;

/// Maximum number of near misses in a message.
const NAMED: usize = 3;

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

#[cfg(test)]
mod tests {
    use super::super::input_candidates::look;
    use super::super::input_candidates::tests::checkout;
    use super::*;

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
