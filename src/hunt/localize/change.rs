//! A commit's change split into parts, and the files of a tree with some of the parts.

use std::cell::OnceCell;

use crate::evaluation::{
    Cause, CauseEnd, ChangePart, CommitId, Culprit, EntryContent, EntryFile, MovedEdit, PartOf,
    TreeEntry,
};
use crate::git::{ChangedFile, FileSide, GitError, History, Hunk, LineSets, MovedCode, Split};
use crate::report::relevance;

use super::lines::ChangedTexts;

/// A commit's change against its parent.
pub(super) struct Change<'h> {
    history: &'h History,
    /// The changed files. The most likely cause comes first.
    files: Vec<File>,
    /// The lines that the files change, to find moved code.
    lines: OnceCell<LineSets>,
}

struct File {
    file: ChangedFile,
    split: OnceCell<FileSplit>,
}

/// How a file's change can be split.
enum FileSplit {
    /// Not at all.
    Whole,
    /// Into the hunks between two versions.
    Hunks(Split),
    /// A new file, into moved code and its edits.
    Moved(MovedCode),
}

/// Longest excerpt of an edit, lines.
const MOST_LINES: usize = 8;

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
        let files = files.into_iter().map(unsplit).collect();
        Ok(Self { history, files, lines: OnceCell::new() })
    }

    /// The whole change, by files.
    pub(super) fn whole(&self) -> Vec<Part> {
        (0..self.files.len()).map(|file| Part { file, of: PartOf::File }).collect()
    }

    /// The parts that tests of the endpoints take out or add. The rest of the change may make the
    /// step too, unless a test said that it does not.
    pub(super) fn taken(&self, cause: &Cause) -> Vec<Part> {
        match cause.end {
            CauseEnd::Complete => self.named(cause.parts()),
            _ => self.whole(),
        }
    }

    /// The path of a part's file, for people.
    pub(super) fn path(&self, part: Part) -> String {
        self.files[part.file].file.shown_path()
    }

    /// The paths of a part's file before and after the change, for people.
    pub(super) fn paths(&self, part: Part) -> Vec<String> {
        let ChangedFile { old, new } = &self.files[part.file].file;
        let sides = old.iter().chain(new);
        sides.map(|side| String::from_utf8_lossy(&side.path).into_owned()).collect()
    }

    /// The part for people.
    pub(super) fn shown(&self, part: Part) -> ChangePart {
        let file = &self.files[part.file].file;
        let whole = file.whole_change().filter(|_| part.of == PartOf::File);
        ChangePart { path: file.shown_path(), of: part.of, whole }
    }

    /// The parts of a file's change; only the file itself if it cannot be split.
    pub(super) fn split(&self, part: Part) -> Result<Vec<Part>, GitError> {
        let file = &self.files[part.file];
        if part.of != PartOf::File {
            return Ok(vec![part]);
        }
        let mut parts: Vec<PartOf> = match self.split_of(part.file)? {
            FileSplit::Whole => return Ok(vec![part]),
            FileSplit::Moved(moved) => moved_parts(&moved.split),
            FileSplit::Hunks(split) => {
                let of = split.hunks.len();
                (1..=of).map(|number| PartOf::Hunk { number, of }).collect()
            }
        };
        parts.extend(file.has_new_name().then_some(PartOf::Name));
        parts.extend(file.has_new_mode().then_some(PartOf::Mode));
        if parts.len() < 2 {
            return Ok(vec![part]);
        }
        Ok(parts.into_iter().map(|of| Part { file: part.file, of }).collect())
    }

    /// The parts with each new file of moved code split into the moved code and its edits. `None`
    /// if there are no edits.
    pub(super) fn with_edits_apart(&self, parts: &[Part]) -> Result<Option<Vec<Part>>, GitError> {
        let mut apart = Vec::new();
        for part in parts {
            let is_moved = part.of == PartOf::File
                && self.is_there(*part) == [false, true]
                && matches!(self.split_of(part.file)?, FileSplit::Moved(_));
            apart.extend(if is_moved { self.split(*part)? } else { vec![*part] });
        }
        Ok(apart.iter().any(|part| part.is_edit()).then_some(apart))
    }

    /// The lines that an edit of moved code loses and adds. Nothing for another part.
    pub(super) fn lines_of_edit(&self, part: Part) -> Result<[Vec<&[u8]>; 2], GitError> {
        let PartOf::Edit { number, .. } = part.of else { return Ok(Default::default()) };
        match self.split_of(part.file)? {
            FileSplit::Moved(moved) => Ok(moved.split.lines_of(number - 1)),
            FileSplit::Whole | FileSplit::Hunks(_) => Ok(Default::default()),
        }
    }

    /// The edits among the parts, for people.
    pub(super) fn edits(&self, parts: &[Part]) -> Result<Vec<MovedEdit>, GitError> {
        let mut edits = Vec::new();
        for part in parts {
            let PartOf::Edit { line, .. } = part.of else { continue };
            let FileSplit::Moved(moved) = self.split_of(part.file)? else { continue };
            let [lost, added] = self.lines_of_edit(*part)?.map(|lines| {
                let shown = lines.into_iter().take(MOST_LINES);
                shown.map(|line| String::from_utf8_lossy(line).trim_end().to_owned()).collect()
            });
            let (path, from) = (self.path(*part), moved.from.clone());
            edits.push(MovedEdit { path, from, line, lost, added });
        }
        Ok(edits)
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
            } else if !chosen.is_empty() {
                match self.split_of(number)? {
                    FileSplit::Whole => {}
                    FileSplit::Hunks(split) => entries.extend(some(file, split, &chosen)),
                    FileSplit::Moved(moved) => {
                        entries.extend(some_edits(file, &moved.split, &chosen));
                    }
                }
            }
        }
        Ok(entries)
    }

    /// The files that the change adds and that a tree with these entries lacks.
    pub(super) fn added_without(&self, entries: &[TreeEntry]) -> Vec<&FileSide> {
        let is_in = |side: &FileSide| {
            entries.iter().any(|entry| entry.path == side.path && entry.file.is_some())
        };
        let added = self.files.iter().filter(|file| file.file.old.is_none());
        added.filter_map(|file| file.file.new.as_ref()).filter(|side| !is_in(side)).collect()
    }

    /// The texts of a file before and after. Empty if a side is no text.
    pub(super) fn texts(&self, file: usize) -> Result<ChangedTexts, GitError> {
        match self.split_of(file)? {
            FileSplit::Hunks(split) => return Ok(ChangedTexts::of(split)),
            FileSplit::Moved(moved) => return Ok(ChangedTexts::moved(&moved.split)),
            FileSplit::Whole => {}
        }
        let file = &self.files[file];
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

    fn split_of(&self, place: usize) -> Result<&FileSplit, GitError> {
        let file = &self.files[place];
        if let Some(known) = file.split.get() {
            return Ok(known);
        }
        let is_new = file.file.old.is_none();
        let split = match self.history.split(&file.file)? {
            Some(split) => FileSplit::Hunks(split),
            None if is_new => self.moved(place)?.map_or(FileSplit::Whole, FileSplit::Moved),
            None => FileSplit::Whole,
        };
        Ok(file.split.get_or_init(|| split))
    }

    fn moved(&self, place: usize) -> Result<Option<MovedCode>, GitError> {
        let files: Vec<&ChangedFile> = self.files.iter().map(|file| &file.file).collect();
        let lines = if let Some(lines) = self.lines.get() {
            lines
        } else {
            let lines = self.history.line_sets(&files)?;
            self.lines.get_or_init(|| lines)
        };
        self.history.moved_code(&files, lines, place)
    }
}

impl Part {
    /// Whether this is an edit of moved code.
    pub(super) fn is_edit(self) -> bool {
        matches!(self.of, PartOf::Edit { .. })
    }
}

impl File {
    fn has_new_name(&self) -> bool {
        self.file.renamed_from().is_some()
    }

    fn has_new_mode(&self) -> bool {
        let (Some(old), Some(new)) = (&self.file.old, &self.file.new) else { return false };
        old.mode != new.mode
    }
}

/// The parts of a new file: the moved code, and its edits.
fn moved_parts(split: &Split) -> Vec<PartOf> {
    let of = split.hunks.len();
    let edit = |(place, hunk): (usize, &Hunk)| PartOf::Edit {
        number: place + 1,
        of,
        line: hunk.new.start + 1,
    };
    let edits = split.hunks.iter().enumerate().map(edit);
    std::iter::once(PartOf::Moved).chain(edits).collect()
}

/// A new file as moved code with some of its edits; `None` without the moved code.
fn some_edits(file: &File, split: &Split, chosen: &[PartOf]) -> Option<TreeEntry> {
    let new = file.file.new.as_ref().filter(|_| chosen.contains(&PartOf::Moved))?;
    let has = |edit: usize| {
        let is_it = |part: &PartOf| matches!(part, PartOf::Edit { number, .. } if *number == edit);
        chosen.iter().any(is_it)
    };
    let content = if (1..=split.hunks.len()).all(has) {
        EntryContent::Object(new.object.clone())
    } else {
        EntryContent::Bytes(split.with(|index| has(index + 1)))
    };
    let kept = EntryFile { mode: new.mode.clone(), content };
    Some(TreeEntry { path: new.path.clone(), file: Some(kept) })
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
