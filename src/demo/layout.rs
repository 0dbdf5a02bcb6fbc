//! Writes the bundled engine as a git repository, with its model, its text, and the
//! configuration of a hunt.

use std::path::{Path, PathBuf};

use include_dir::{Dir, DirEntry};

use crate::git::{Author, DemoRepositoryWriter, GitError};

use super::embedded::{DEMO, ORACLE_TOML};
use super::plan::{self, Plan, PlanError, Verb};

/// Why the repository could not be written.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// A git command failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file could not be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The folder is not empty.
    #[error("{} is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// The plan is not valid: a bug of this program.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The history has other commit ids than expected.
    #[error(
        "{revision} has the commit id {got}, not {wanted}: this git makes other commits from the \
         patches"
    )]
    OtherIds {
        /// The revision.
        revision: String,
        /// The expected commit id.
        wanted: String,
        /// The actual commit id.
        got: String,
    },
}

fn at(path: &Path) -> impl FnOnce(std::io::Error) -> LayoutError {
    let path = path.to_owned();
    move |source| LayoutError::Io { path, source }
}

/// Makes the engine's repository in `folder`, which must be new or empty: the history with fixed
/// commit ids, `main` checked out. Then adds files that the engine's own `.gitignore` ignores: the
/// folder `demo/` with the model and the text, `oracle.toml`, and `.venv`.
pub fn lay_out(folder: &Path) -> Result<(), LayoutError> {
    std::fs::create_dir_all(folder).map_err(at(folder))?;
    let mut entries = std::fs::read_dir(folder).map_err(at(folder))?;
    if entries.next().is_some() {
        return Err(LayoutError::NotEmpty(folder.to_owned()));
    }
    let base = DEMO.get_dir("base").expect("the demo has its sources");
    let text = DEMO
        .get_file("history/plan")
        .and_then(include_dir::File::contents_utf8)
        .expect("the demo has its plan");
    let plan = Plan::parse(text)?;
    let patches = tempfile::tempdir().map_err(at(folder))?;
    let repository = DemoRepositoryWriter::init(folder)?;
    for verb in &plan.0 {
        step(&repository, folder, base, patches.path(), verb)?;
    }
    repository.switch("main")?;
    let venv = DEMO.get_dir("venv").expect("the demo has its environment");
    write_tree(venv, venv.path(), &folder.join(".venv"))?;
    for name in ["model.bin", "corpus.txt"] {
        let file = DEMO.get_file(name).expect("the demo has its model and its text");
        write(&folder.join("demo").join(name), file.contents())?;
    }
    write(&folder.join("oracle.toml"), ORACLE_TOML.as_bytes())
}

fn step(
    repository: &DemoRepositoryWriter,
    folder: &Path,
    base: &Dir<'_>,
    patches: &Path,
    verb: &Verb,
) -> Result<(), LayoutError> {
    let who = |author: &plan::Author| Author {
        name: author.name.clone(),
        email: author.email.clone(),
        date: author.date.clone(),
    };
    match verb {
        Verb::Root { author, subject } => {
            write_tree(base, base.path(), folder)?;
            repository.commit_all(&who(author), subject)?;
        }
        Verb::Apply(patch) => {
            let name = format!("history/{patch}");
            let content = DEMO.get_file(&name).map(include_dir::File::contents);
            let content = content.ok_or_else(|| LayoutError::Io {
                path: PathBuf::from(&name),
                source: std::io::ErrorKind::NotFound.into(),
            })?;
            let file = patches.join("next.patch");
            write(&file, content)?;
            repository.apply(&file)?;
        }
        Verb::Branch { name, at } => repository.branch(name, at.as_deref())?,
        Verb::Switch(name) => repository.switch(name)?,
        Verb::Merge { branch, author, subject } => {
            repository.merge(branch, &who(author), subject)?;
        }
        Verb::Tag(name) => repository.tag(name)?,
        Verb::Expect { revision, id } => {
            let got = repository.resolve(revision)?;
            if got != *id {
                return Err(LayoutError::OtherIds {
                    revision: revision.clone(),
                    wanted: id.to_string(),
                    got: got.to_string(),
                });
            }
        }
    }
    Ok(())
}

/// Writes an embedded folder. `dot-` at the start of a name becomes a dot; a file that begins
/// with `#!` becomes executable.
fn write_tree(tree: &Dir<'_>, root: &Path, target: &Path) -> Result<(), LayoutError> {
    for entry in tree.entries() {
        match entry {
            DirEntry::Dir(below) => write_tree(below, root, target)?,
            DirEntry::File(file) => {
                let relative = file.path().strip_prefix(root).expect("a tree is below its root");
                let named: PathBuf = relative
                    .components()
                    .map(|part| {
                        let name = part.as_os_str().to_string_lossy();
                        name.strip_prefix("dot-")
                            .map_or_else(|| name.to_string(), |rest| format!(".{rest}"))
                    })
                    .collect();
                write(&target.join(named), file.contents())?;
            }
        }
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), LayoutError> {
    use std::os::unix::fs::PermissionsExt;
    let folder = path.parent().expect("a file lies in a folder");
    std::fs::create_dir_all(folder).map_err(at(folder))?;
    std::fs::write(path, bytes).map_err(at(path))?;
    let mode = if bytes.starts_with(b"#!") { 0o755 } else { 0o644 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(at(path))
}
