//! Sets of tensors in `.npy` and `.safetensors` files, and the lists that give their order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::evaluation::TensorOrder;
use crate::files;

use super::entry::{Entry, Source};
use super::error::{DumpError, Problem};
use super::head::{REDUMP, head, whole};
use super::stored::Stored;
use super::{npy, safetensors};

/// The file in a folder of a dump that lists the tensors in their order.
const LIST: &str = "index.txt";

/// Longer lists are refused.
const LONGEST_LIST: u64 = 64 << 20;

/// Names of texts in the header of a `.safetensors` file: the order as a JSON list of names, and
/// what computes each tensor as a JSON object.
const ORDER: &str = "order";
const OPERATIONS: &str = "operations";

/// Whether a file that begins with these bytes has one of these formats.
pub(super) fn is_one(start: &[u8]) -> bool {
    start.starts_with(npy::MAGIC) || safetensors::is_start(start)
}

/// Tensors in the order of a list, or as they were found.
type Ordered = (TensorOrder, Vec<Entry>);

/// The tensors of a folder.
pub(super) fn of_folder(folder: &Path) -> Result<Ordered, DumpError> {
    let failed = |source| DumpError::Open { path: folder.to_owned(), source };
    let mut files: BTreeMap<String, PathBuf> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if let Ok(name) = entry.file_name().into_string() {
            files.insert(name, entry.path());
        }
    }
    let with_end = |end: &str| {
        let mut found: Vec<(String, &PathBuf)> = files
            .iter()
            .filter_map(|(name, path)| Some((name.strip_suffix(end)?.to_owned(), path)))
            .collect();
        found.sort_by_key(|(name, _)| by_numbers(name));
        found
    };
    let (arrays, archives) = (with_end(".npy"), with_end(".safetensors"));
    let list = match files.get(LIST) {
        Some(path) => Some((read_list(path)?, path)),
        None => None,
    };
    let list = list.as_ref();
    let problem = |what: &str, cure: &str| DumpError::format(folder, Problem::new(what, cure));
    match (arrays.is_empty(), archives.is_empty()) {
        (true, true) => Err(problem(
            "the folder has no .npy and no .safetensors files",
            "name the folder that the dump was written to",
        )),
        (false, false) => Err(problem(
            "the folder has both .npy and .safetensors files",
            "write each dump into a folder of its own",
        )),
        (false, true) => of_arrays(&arrays, list),
        (true, false) => of_archives(&archives, list),
    }
}

/// The tensors of one file.
pub(super) fn of_file(path: &Path) -> Result<Ordered, DumpError> {
    if path.extension().is_some_and(|end| end == "npy") {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return of_arrays(&[(stem, &path.to_owned())], None);
    }
    let list = path.with_extension("order.txt");
    let list = if list.exists() { Some((read_list(&list)?, &list)) } else { None };
    of_archives(&[(String::new(), &path.to_owned())], list.as_ref())
}

/// A sort key that compares numbers in names as numbers: `layer2` comes before `layer10`.
fn by_numbers(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, after) = rest.split_at(digits);
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        parts.push((text.to_owned(), after[..end].parse().unwrap_or(u64::MAX)));
        rest = &after[end..];
    }
    parts
}

/// A line of a list: the beginning of the file's name, and the tensor's name.
struct Listed {
    file: String,
    name: String,
}

/// Reads lines `NNN NAME SHAPE`, as the bundled engine writes them, or `NAME`.
fn read_list(path: &Path) -> Result<Vec<Listed>, DumpError> {
    let failed = |source| DumpError::Open { path: path.to_owned(), source };
    let mut file = files::open_target(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    if size > LONGEST_LIST {
        let problem = Problem::new("the list is too long", "list one name a line");
        return Err(DumpError::format(path, problem));
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(failed)?;
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Ok(lines.map(listed).collect())
}

fn listed(line: &str) -> Listed {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [number, name, _shape] if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            Listed { file: format!("{number}_{name}"), name: (*name).to_owned() }
        }
        _ => Listed { file: line.to_owned(), name: line.to_owned() },
    }
}

/// One tensor per file.
fn of_arrays(
    files: &[(String, &PathBuf)],
    list: Option<&(Vec<Listed>, &PathBuf)>,
) -> Result<Ordered, DumpError> {
    let entry = |name: &str, path: &Path| Ok(entry(name.to_owned(), array(path)?));
    let Some((list, list_path)) = list else {
        let tensors = files.iter().map(|(name, path)| entry(name, path));
        return Ok((TensorOrder::FileNames, tensors.collect::<Result<_, DumpError>>()?));
    };
    let by_stem: BTreeMap<&str, &Path> =
        files.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
    let tensors = list.iter().map(|line| {
        let path = by_stem.get(line.file.as_str()).ok_or_else(|| missing(list_path, &line.name))?;
        entry(&line.name, path)
    });
    Ok((TensorOrder::Listed, tensors.collect::<Result<_, _>>()?))
}

fn missing(list: &Path, name: &str) -> DumpError {
    let what = format!("it lists `{name}`, which is not there");
    DumpError::format(list, Problem::new(what, "the dump is not complete; write it again"))
}

/// The entry of a tensor, also if its values cannot be read.
fn entry(name: String, stored: Result<Stored, String>) -> Entry {
    let shape = stored.as_ref().map_or_else(|_| Vec::new(), |stored| stored.shape().to_vec());
    let kind = stored.as_ref().ok().map(|stored| stored.encoding().name().to_owned());
    let source = stored.map(Source::Stored);
    Entry {
        name,
        operation: None,
        inputs: Vec::new(),
        kind,
        shape,
        has_nan: false,
        is_partial: false,
        full_sum: None,
        source,
    }
}

/// The only tensor of a `.npy` file, or why its values cannot be compared.
fn array(path: &Path) -> Result<Result<Stored, String>, DumpError> {
    let (file, size) = open(path)?;
    let problem = |problem| DumpError::format(path, problem);
    let failed = |source| DumpError::Open { path: path.to_owned(), source };
    let start = head(&file, 12).map_err(failed)?;
    if !start.starts_with(npy::MAGIC) {
        return Err(problem(Problem::new("it is no .npy file", REDUMP)));
    }
    let bytes = npy::header_bytes(&start).map_err(problem)?;
    let header = head(&file, bytes).map_err(failed)?;
    whole(&header, bytes).map_err(problem)?;
    match npy::read(&header) {
        Ok(layout) => Stored::checked(path, layout, size, None).map(Ok).map_err(problem),
        Err(unreadable) => Ok(Err(unreadable.what)),
    }
}

fn open(path: &Path) -> Result<(File, u64), DumpError> {
    let failed = |source| DumpError::Open { path: path.to_owned(), source };
    let file = files::open_target(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    Ok((file, size))
}

/// The tensors of several files, by name.
#[derive(Default)]
struct Archives {
    tensors: Vec<(String, Result<Stored, String>)>,
    order: Vec<String>,
    /// Whether every file has a list of its own.
    is_listed: bool,
    operations: BTreeMap<String, String>,
}

/// Many tensors per file. If two files have a tensor of the same name, each name gets the name of
/// its file as a prefix.
fn of_archives(
    files: &[(String, &PathBuf)],
    list: Option<&(Vec<Listed>, &PathBuf)>,
) -> Result<Ordered, DumpError> {
    let mut all = Archives { is_listed: true, ..Archives::default() };
    for (stem, path) in files {
        add_archive(&mut all, "", path)?;
        let mut names: Vec<&str> = all.tensors.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) && !stem.is_empty() {
            all = Archives { is_listed: true, ..Archives::default() };
            for (stem, path) in files {
                add_archive(&mut all, &format!("{stem}."), path)?;
            }
            break;
        }
    }
    let (order, names, path) = match list {
        Some((list, path)) => {
            (TensorOrder::Listed, list.iter().map(|line| line.name.clone()).collect(), *path)
        }
        None if all.is_listed => (TensorOrder::Listed, all.order.clone(), files[0].1),
        None => {
            let names: Vec<String> = all.tensors.iter().map(|(name, _)| name.clone()).collect();
            (TensorOrder::Offset, names, files[0].1)
        }
    };
    let mut by_name: BTreeMap<String, Result<Stored, String>> = all.tensors.into_iter().collect();
    let mut tensors = Vec::new();
    for name in names {
        let stored = by_name.remove(&name).ok_or_else(|| missing(path, &name))?;
        let operation = all.operations.remove(&name);
        tensors.push(Entry { operation, ..entry(name, stored) });
    }
    Ok((order, tensors))
}

fn add_archive(all: &mut Archives, prefix: &str, path: &Path) -> Result<(), DumpError> {
    let failed = |source| DumpError::Open { path: path.to_owned(), source };
    let problem = |problem| DumpError::format(path, problem);
    let (file, size) = open(path)?;
    let start = head(&file, 12).map_err(failed)?;
    if !safetensors::is_start(&start) {
        return Err(problem(Problem::new("it is no .safetensors file", REDUMP)));
    }
    let bytes = safetensors::header_bytes(&start).map_err(problem)?;
    let header = head(&file, bytes).map_err(failed)?;
    whole(&header, bytes).map_err(problem)?;
    let contents = safetensors::read_all(&header).map_err(problem)?;
    let unreadable = |name: &str| {
        let what = format!("the text `{name}` of its header is no JSON");
        problem(Problem::new(what, "write a list of names as JSON, or no list"))
    };
    match contents.texts.get(ORDER) {
        Some(text) => {
            let names: Vec<String> = serde_json::from_str(text).map_err(|_| unreadable(ORDER))?;
            all.order.extend(names.iter().map(|name| format!("{prefix}{name}")));
        }
        None => all.is_listed = false,
    }
    if let Some(text) = contents.texts.get(OPERATIONS) {
        let operations: BTreeMap<String, String> =
            serde_json::from_str(text).map_err(|_| unreadable(OPERATIONS))?;
        let named = |(name, what): (String, String)| (format!("{prefix}{name}"), what);
        all.operations.extend(operations.into_iter().map(named));
    }
    for (name, layout) in contents.tensors {
        let stored = match layout {
            Ok(layout) => {
                Ok(Stored::checked(path, layout, size, Some(contents.end)).map_err(problem)?)
            }
            Err(unreadable) => Err(unreadable.what),
        };
        all.tensors.push((format!("{prefix}{name}"), stored));
    }
    Ok(())
}
