//! A commit's change split into parts, and the files of a tree with some of the parts.

use std::cell::OnceCell;

use crate::evaluation::{
    ChangePart, CommitId, Culprit, EntryContent, EntryFile, PartOf, TreeEntry,
};
use crate::git::{ChangedFile, FileSide, GitError, History, Split};
use crate::report::relevance;

use super::lines::ChangedTexts;

/// A commit's change against its parent.
pub(super) struct Change<'h> {
    history: &'h History,
    /// The changed files. The most likely cause comes first.
    files: Vec<File>,
}

struct File {
    file: ChangedFile,
    split: OnceCell<Option<Split>>,
}

/// A part of the change: the number of a file, and the part of that file's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) file: usize,
    pub(super) of: PartOf,
}

impl<'h> Change<'h> {
    /// The change of a first bad commit against its worst parent.
    pub(super) fn of(
        history: &'h History,
        parent: &CommitId,
        culprit: &Culprit,
    ) -> Result<Self, GitError> {
        let mut files = history.changed_files(parent, &culprit.info.commit)?;
        files.sort_by_key(|file| relevance(&file.shown_path(), culprit.differences.as_ref()));
        let unsplit = |file| File { file, split: OnceCell::new() };
        Ok(Self { history, files: files.into_iter().map(unsplit).collect() })
    }

    /// The whole change, by files.
    pub(super) fn whole(&self) -> Vec<Part> {
        (0..self.files.len()).map(|file| Part { file, of: PartOf::File }).collect()
    }

    /// The path of a part's file, for people.
    pub(super) fn path(&self, part: Part) -> String {
        self.files[part.file].file.shown_path()
    }

    /// The part for people.
    pub(super) fn shown(&self, part: Part) -> ChangePart {
        ChangePart { path: self.path(part), of: part.of }
    }

    /// The parts of a file's change; only the file itself if it cannot be split.
    pub(super) fn split(&self, part: Part) -> Result<Vec<Part>, GitError> {
        let file = &self.files[part.file];
        let (PartOf::File, Some(split)) = (part.of, self.split_of(file)?) else {
            return Ok(vec![part]);
        };
        let of = split.hunks.len();
        let mut parts: Vec<PartOf> = (1..=of).map(|number| PartOf::Hunk { number, of }).collect();
        parts.extend(file.has_new_name().then_some(PartOf::Name));
        parts.extend(file.has_new_mode().then_some(PartOf::Mode));
        if parts.len() < 2 {
            return Ok(vec![part]);
        }
        Ok(parts.into_iter().map(|of| Part { file: part.file, of }).collect())
    }

    /// The parts of `whole` without some parts. A file of which a part is left out is split.
    pub(super) fn without(&self, whole: &[Part], gone: &[Part]) -> Result<Vec<Part>, GitError> {
        let mut rest = Vec::new();
        for part in whole {
            if gone.contains(part) {
                continue;
            }
            let is_split = gone.iter().any(|gone| gone.file == part.file);
            let parts = if is_split { self.split(*part)? } else { vec![*part] };
            rest.extend(parts.into_iter().filter(|part| !gone.contains(part)));
        }
        Ok(rest)
    }

    /// The parts with these names, which [`Self::shown`] gave.
    pub(super) fn named<'p>(&self, names: impl Iterator<Item = &'p ChangePart>) -> Vec<Part> {
        let whole = self.whole();
        let file = |name: &ChangePart| whole.iter().find(|part| self.path(**part) == name.path);
        names.filter_map(|name| Some(Part { of: name.of, ..*file(name)? })).collect()
    }

    /// The files of the parent with these parts of the change.
    pub(super) fn entries(&self, parts: &[Part]) -> Result<Vec<TreeEntry>, GitError> {
        let mut entries = Vec::new();
        for (number, file) in self.files.iter().enumerate() {
            let chosen: Vec<PartOf> =
                parts.iter().filter(|part| part.file == number).map(|part| part.of).collect();
            if chosen.contains(&PartOf::File) {
                entries.extend(whole(&file.file));
            } else if !chosen.is_empty()
                && let Some(split) = self.split_of(file)?
            {
                entries.extend(some(file, split, &chosen));
            }
        }
        Ok(entries)
    }

    /// The texts of a file before and after. Empty if a side is no text.
    pub(super) fn texts(&self, file: usize) -> Result<ChangedTexts, GitError> {
        let file = &self.files[file];
        if let Some(split) = self.split_of(file)? {
            return Ok(ChangedTexts::of(split));
        }
        let text = |side: &Option<FileSide>| -> Result<String, GitError> {
            let text = side.as_ref().map(|side| self.history.text(side)).transpose()?.flatten();
            Ok(text.unwrap_or_default())
        };
        match (&file.file.old, &file.file.new) {
            (Some(_), Some(_)) => Ok(ChangedTexts::default()),
            (old, new) => Ok(ChangedTexts::whole([text(old)?, text(new)?])),
        }
    }

    /// Whether the part's file exists before and after the change.
    pub(super) fn is_there(&self, part: Part) -> [bool; 2] {
        let ChangedFile { old, new } = &self.files[part.file].file;
        [old.is_some(), new.is_some()]
    }

    fn split_of<'f>(&self, file: &'f File) -> Result<Option<&'f Split>, GitError> {
        if file.split.get().is_none() {
            let split = self.history.split(&file.file)?;
            file.split.set(split).expect("it was just seen to be empty");
        }
        Ok(file.split.get().and_then(Option::as_ref))
    }
}

impl File {
    fn has_new_name(&self) -> bool {
        self.file.renamed_from().is_some()
    }

    fn has_new_mode(&self) -> bool {
        let mode = |side: &Option<FileSide>| side.as_ref().map(|side| side.mode.clone());
        mode(&self.file.old) != mode(&self.file.new)
    }
}

/// The file as the commit has it.
fn whole(file: &ChangedFile) -> Vec<TreeEntry> {
    let path = |side: &FileSide| side.path.clone();
    let new = file.new.as_ref();
    let gone = file.old.as_ref().filter(|old| new.is_none_or(|new| new.path != old.path));
    let gone = gone.map(|old| TreeEntry { path: path(old), file: None });
    let kept = new.map(|new| TreeEntry {
        path: path(new),
        file: Some(EntryFile {
            mode: new.mode.clone(),
            content: EntryContent::Object(new.object.clone()),
        }),
    });
    gone.into_iter().chain(kept).collect()
}

/// The file with some parts of its change. A file that can be split has an old and a new text.
fn some(file: &File, split: &Split, chosen: &[PartOf]) -> Vec<TreeEntry> {
    let (Some(old), Some(new)) = (&file.file.old, &file.file.new) else { return Vec::new() };
    let has = |hunk: usize| {
        let is_it = |part: &PartOf| matches!(part, PartOf::Hunk { number, .. } if *number == hunk);
        chosen.iter().any(is_it)
    };
    let content = if (1..=split.hunks.len()).all(has) {
        EntryContent::Object(new.object.clone())
    } else if (1..=split.hunks.len()).any(has) {
        EntryContent::Bytes(split.with(|index| has(index + 1)))
    } else {
        EntryContent::Object(old.object.clone())
    };
    let is_renamed = chosen.contains(&PartOf::Name);
    let mode = if chosen.contains(&PartOf::Mode) { &new.mode } else { &old.mode };
    let path = if is_renamed { &new.path } else { &old.path };
    let gone = is_renamed.then(|| TreeEntry { path: old.path.clone(), file: None });
    let kept =
        TreeEntry { path: path.clone(), file: Some(EntryFile { mode: mode.clone(), content }) };
    gone.into_iter().chain([kept]).collect()
}
