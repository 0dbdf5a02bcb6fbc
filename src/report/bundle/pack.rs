//! Writes a bundle.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::config::without_secrets;
use crate::files;
use crate::process::{compressed_log, is_compressed_log, log_bytes};
use crate::report::model::Report;
use crate::report::{Format, ReportError};
use crate::store::journal::Event;
use crate::store::{HuntDir, PATCHES, StoreError, hex};

use super::secrets::{Secrets, without_env};
use super::{BUNDLE_SCHEMA, FileEntry, MANIFEST, Manifest, STORE};

/// The level of compression. It is fixed and one thread compresses, so that a bundle has the same
/// bytes each time.
const LEVEL: i32 = 10;

/// A file of a bundle before its secrets are taken out.
enum Content {
    /// Text that was just made.
    Made(Vec<u8>),
    /// A file of the hunt.
    File(PathBuf),
    /// The log of a build or of a run.
    Log(PathBuf),
}

/// A hunt's bundle: the report in all forms, the journal, the configuration, the logs, and the
/// records that the journal names.
pub(crate) fn pack(hunt: &HuntDir, report: &Report) -> Result<Vec<u8>, ReportError> {
    let config = hunt.config_text(&report.config_sha256)?.unwrap_or_default();
    let secrets = Secrets::of(&config);
    let mut contents = in_hunt(hunt, report)?;
    contents.insert("oracle.toml".to_owned(), Content::Made(without_secrets(&config).0.into()));
    contents.extend(in_store(hunt)?);
    // Each file is read once: a running hunt may change it after its digest was computed.
    let (mut files, mut packed) = (BTreeMap::new(), Vec::new());
    for (name, content) in contents {
        let bytes = read(&content, &secrets)?;
        let entry = FileEntry { sha256: hex(&Sha256::digest(&bytes)), bytes: bytes.len() as u64 };
        files.insert(name.clone(), entry);
        packed.push((name, bytes));
    }
    let manifest = Manifest {
        schema: BUNDLE_SCHEMA.to_owned(),
        hunt: report.hunt.clone(),
        tool: report.tool.clone(),
        files,
    };
    let manifest = serde_json::to_vec_pretty(&manifest).expect("a manifest is plain data");
    let write = || -> std::io::Result<Vec<u8>> {
        let encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
        let mut archive = tar::Builder::new(encoder);
        add(&mut archive, MANIFEST, &manifest)?;
        for (name, bytes) in &packed {
            add(&mut archive, name, bytes)?;
        }
        archive.into_inner()?.finish()
    };
    // The archive is in memory, so its errors have no path of their own.
    Ok(write().map_err(|source| StoreError::Io { path: hunt.path().to_owned(), source })?)
}

/// Adds a file without anything of this machine: no owner, no time.
fn add(archive: &mut tar::Builder<impl Write>, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(bytes.len() as u64);
    archive.append_data(&mut header, name, bytes)
}

fn read(content: &Content, secrets: &Secrets) -> Result<Vec<u8>, StoreError> {
    let bytes = |path: &PathBuf| files::read(path).map_err(StoreError::at(path));
    Ok(match content {
        Content::Made(bytes) => secrets.scrubbed(bytes).into_owned(),
        Content::File(path) => secrets.scrubbed(&bytes(path)?).into_owned(),
        Content::Log(path) => {
            let text = secrets.scrubbed_log(&log_bytes(path).map_err(StoreError::at(path))?);
            let is_compressed = is_compressed_log(path);
            let compressed = is_compressed.then(|| compressed_log(&text)).transpose();
            compressed.map_err(StoreError::at(path))?.unwrap_or(text)
        }
    })
}

/// The report, and the files of the hunt's folder that a report is made from or leads to.
fn in_hunt(hunt: &HuntDir, report: &Report) -> Result<BTreeMap<String, Content>, ReportError> {
    let mut contents = BTreeMap::new();
    for (name, format) in
        [("report.json", Format::Json), ("report.md", Format::Md), ("report.html", Format::Html)]
    {
        let text = format.render(report, &hunt.path().join(name));
        contents.insert(name.to_owned(), Content::Made(text.into_bytes()));
    }
    contents.insert("journal.jsonl".to_owned(), Content::Made(hunt.journal_copy()?));
    let mut take = |name: String, content: fn(PathBuf) -> Content| {
        let path = hunt.path().join(&name);
        // Not a link: its target may be any file of the user.
        if path.symlink_metadata().is_ok_and(|found| found.is_file()) {
            contents.insert(name, content(path));
        }
    };
    let facts = ["history", "forge.json", "inside.json"];
    for name in facts.into_iter().chain(PATCHES).chain(["reproduce.sh"]) {
        take(name.to_owned(), Content::File);
    }
    let changes = hunt.path().join("changes");
    match std::fs::read_dir(&changes) {
        Ok(entries) => {
            for entry in entries {
                let entry = entry.map_err(StoreError::at(&changes))?;
                if let Some(name) = entry.file_name().to_str() {
                    take(format!("changes/{name}"), Content::File);
                }
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(source) => return Err(StoreError::Io { path: changes, source }.into()),
    }
    for entry in &hunt.entries()? {
        let log = match &entry.event {
            Event::Run(run) => &run.log,
            Event::Build(build) => &build.log,
            _ => continue,
        };
        if !log.is_empty() {
            take(log.clone(), Content::Log);
        }
    }
    Ok(contents)
}

/// The records of runs and builds, and the patches, that the journal names.
fn in_store(hunt: &HuntDir) -> Result<BTreeMap<String, Content>, ReportError> {
    let mut contents = BTreeMap::new();
    for entry in &hunt.entries()? {
        let (kind, key, attempt) = match &entry.event {
            Event::Run(run) => ("runs", &run.run_key, &run.attempt),
            Event::Build(build) => ("builds", &build.build_key, &build.attempt),
            Event::Begun(begun) => {
                for digest in begun.patches.values() {
                    if let Some(patch) = hunt.patch(digest)? {
                        let name = format!("{STORE}patches/{digest}.diff");
                        contents.insert(name, Content::Made(patch));
                    }
                }
                continue;
            }
            _ => continue,
        };
        let Some(bytes) = hunt.stored_record(kind, key, attempt)? else { continue };
        let Ok(mut record) = serde_json::from_slice(&bytes) else { continue };
        without_env(&mut record);
        let text = serde_json::to_vec_pretty(&record).expect("it was JSON before");
        contents.insert(format!("{STORE}{kind}/{attempt}.json"), Content::Made(text));
    }
    Ok(contents)
}
