//! `report --bundle`: one file that is read elsewhere, and that nobody needs to trust.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::kit::{Hunt, Oracle, Output, TestEnvironment, line};

/// A hunt with its bundle, in an environment whose commits are still there.
struct Bundled {
    env: TestEnvironment,
    hunt: Hunt,
    file: PathBuf,
}

fn bundled(plan: &str, oracle: impl FnOnce(Oracle) -> Oracle) -> Bundled {
    let env = TestEnvironment::new();
    line(plan).build(&env);
    oracle(Oracle::new(&env)).write(&env);
    let hunt = env.hunt().expect(0, "culprit");
    let file = env.path("answer.tar.zst");
    env.run(&["report", "--bundle", file.to_str().unwrap()]).expect(0);
    Bundled { env, hunt, file }
}

/// The files of a bundle.
fn files(bundle: &Path) -> BTreeMap<String, Vec<u8>> {
    let archive = zstd::decode_all(fs::File::open(bundle).unwrap()).unwrap();
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(archive.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.insert(entry.path().unwrap().to_str().unwrap().to_owned(), bytes);
    }
    files
}

fn read_from(env: &TestEnvironment, bundle: &Path, args: &[&str]) -> Output {
    let empty = env.path("empty");
    fs::create_dir_all(&empty).unwrap();
    let mut words = vec!["report", "--from", bundle.to_str().unwrap()];
    words.extend(args);
    env.run_in(&empty, &words)
}

#[test]
fn a_bundle_is_read_without_repository_and_store() {
    let Bundled { env, hunt, file } = bundled("7.0 7.0 7.5 7.5", |oracle| oracle);
    let first = fs::read(&file).unwrap();
    env.run(&["report", "--bundle", file.to_str().unwrap()]).expect(0);
    assert_eq!(fs::read(&file).unwrap(), first, "two bundles of one hunt are equal");
    let names = files(&file);
    for log in names.keys().filter(|name| name.starts_with("logs/")) {
        assert_eq!(names[log], fs::read(hunt.folder.join(log)).unwrap());
    }
    let records = |kind: &str| names.keys().filter(|name| name.starts_with(kind)).count();
    assert!(records("store/runs/") >= 6 && records("store/builds/") >= 4, "{:?}", names.keys());
    let wanted = ["report.md", "report.json", "report.html"].map(|name| hunt.file(name));
    env.git_in(&env.path(""), &["clone", "--quiet", "repo", "clone"]);
    fs::remove_dir_all(env.repo()).unwrap();

    let forms = ["md", "json", "html"];
    for (form, wanted) in forms.iter().zip(&wanted) {
        let output = read_from(&env, &file, &["--format", form]).expect(0);
        let folder = format!("The hunt's folder is <code>{}</code>.", hunt.folder.display());
        let page = output.stdout.replace("This page was made from a bundle.", &folder);
        assert_eq!(&page, wanted, "{form}");
    }
    read_from(&env, &file, &["--diff"]).expect(0).says(&["ppl = 7.5"]);
    // The file in the place of a hunt's name.
    let output = env.run_in(&env.path("empty"), &["report", file.to_str().unwrap()]).expect(0);
    assert_eq!(output.stdout, wanted[0]);
    let args = ["verify", file.to_str().unwrap(), "--yes"];
    env.run_in(&env.path("clone"), &args).expect(0).says(&["The claim holds here"]);
    let left: Vec<_> = fs::read_dir(env.path("tmp")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.iter().all(|path| path.is_file()), "{left:?}");
}

#[test]
fn a_log_that_became_a_link_is_left_out() {
    let Bundled { env, hunt, file } = bundled("7.0 7.0 7.5 7.5", |oracle| oracle);
    let name = files(&file).into_keys().find(|name| name.starts_with("logs/")).unwrap();
    let (log, elsewhere) = (hunt.folder.join(&name), env.path("elsewhere.log"));
    fs::rename(&log, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &log).unwrap();
    env.run(&["report", "--bundle", file.to_str().unwrap()]).expect(0);
    assert!(!files(&file).contains_key(&name));
}

#[test]
fn no_secret_and_no_other_variable_is_in_it() {
    let env = TestEnvironment::new();
    line("7.0 7.0 7.5 7.5").with_all("say = a word of hunter2222").build(&env);
    let secret = "[[override]]\nwhen = { exists = \"engine.conf\" }\n\
                  measure.ppl.env.MY_TOKEN = \"hunter2222\"\nmeasure.ppl.env.MODE = \"plain\"";
    Oracle::new(&env).section(secret).write(&env);
    let inherited = [
        ("HF_TOKEN", "inherited-secret"),
        ("VLLM_API_KEY", "digested-secret"),
        ("OTHER", "xyzzy-1"),
    ];
    let start = ["start", "--good", "v1", "--bad", "HEAD"];
    env.run_with(&env.repo(), &start, &inherited).expect(0);
    let file = env.path("answer.tar.zst");
    env.run(&["report", "--bundle", file.to_str().unwrap()]).expect(0);
    let files = files(&file);
    for (name, bytes) in &files {
        let text = String::from_utf8_lossy(bytes);
        for secret in ["hunter2222", "inherited-secret", "digested-secret", "xyzzy-1"] {
            assert!(!text.contains(secret), "{secret} is in {name}");
        }
    }
    let runs = files.iter().filter(|(name, _)| name.starts_with("store/runs/"));
    for (name, bytes) in runs {
        let record: Value = serde_json::from_slice(bytes).unwrap();
        assert_eq!(record["env"]["MY_TOKEN"], "[withheld]", "{name}");
        assert_eq!(record["env"]["MODE"], "plain", "{name}");
    }
    let log = files.iter().find(|(name, _)| name.starts_with("logs/confirm")).unwrap().1;
    assert!(String::from_utf8_lossy(log).contains("a word of [withheld]"));
    let output = read_from(&env, &file, &["--format", "json"]).expect(0);
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(report["recheck"]["withheld"], json!(["measure.ppl.env.MY_TOKEN"]));
}

/// A tar archive whose names and kinds are as given, however wrong.
#[derive(Default)]
struct Forged(Vec<u8>);

impl Forged {
    fn add(mut self, name: &str, kind: tar::EntryType, link: &str, bytes: &[u8]) -> Self {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(bytes.len() as u64);
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    fn file(self, name: &str, bytes: &[u8]) -> Self {
        self.add(name, tar::EntryType::Regular, "", bytes)
    }

    /// Begins with a list of these files.
    fn listing(files: &[(&str, &[u8])]) -> Self {
        let entries = files.iter().map(|(name, bytes)| {
            let digest = Sha256::digest(bytes);
            let hex = digest.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
            ((*name).to_owned(), json!({"sha256": hex, "bytes": bytes.len()}))
        });
        Self::with_files(&Value::Object(entries.collect()))
    }

    fn with_files(files: &Value) -> Self {
        let manifest =
            json!({"schema": "bisect-ppl/bundle/1", "hunt": "h", "tool": "t", "files": files});
        Self::default().file("bundle.json", manifest.to_string().as_bytes())
    }

    fn pack(mut self, file: &Path) {
        self.0.resize(self.0.len() + 1024, 0);
        fs::write(file, zstd::encode_all(self.0.as_slice(), 3).unwrap()).unwrap();
    }
}

#[test]
fn a_hostile_bundle_writes_nothing_and_is_refused() {
    let env = TestEnvironment::new();
    let file = env.path("bad.tar.zst");
    let evil: &[u8] = b"evil";
    let listed = |name: &str| Forged::listing(&[(name, evil)]);
    let link = |kind| listed("a").add("a", kind, "/etc/passwd", b"");
    let sized = |bytes: u64| Forged::with_files(&json!({"a": {"sha256": "", "bytes": bytes}}));
    let cases = [
        ("no plain path", listed("../evil").file("../evil", evil)),
        ("no plain path", listed("/tmp/evil").file("/tmp/evil", evil)),
        ("no plain path", listed("a").file("logs/../../evil", evil)),
        ("no plain path", listed("store/../../evil").file("store/../../evil", evil)),
        ("no plain file", link(tar::EntryType::Symlink)),
        ("no plain file", link(tar::EntryType::Link)),
        ("no plain file", link(tar::EntryType::Directory)),
        ("no plain file", link(tar::EntryType::Fifo)),
        ("not in its list", listed("a").file("b", evil)),
        ("there twice", listed("a").file("a", evil).file("a", evil)),
        ("was changed", listed("a").file("a", b"good")),
        ("another size", listed("a").file("a", b"longer than listed")),
        ("`a` is missing", listed("a")),
        ("does not begin with bundle.json", Forged::default().file("a", evil)),
        ("cannot be read", Forged::default().file("bundle.json", b"{}")),
        ("too large", sized(1 << 40)),
        ("too large", sized(u64::MAX)),
    ];
    for (said, forged) in cases {
        forged.pack(&file);
        read_from(&env, &file, &[]).expect(2).says(&[said]);
        env.run(&["verify", file.to_str().unwrap(), "--yes"]).expect(2).says(&[said]);
    }
    // A manifest alone leads to no report, and random bytes behind the first four to no archive.
    Forged::listing(&[]).pack(&file);
    read_from(&env, &file, &[]).expect(2);
    fs::write(&file, [&[0x28, 0xb5, 0x2f, 0xfd][..], &[7; 100]].concat()).unwrap();
    read_from(&env, &file, &[]).expect(2).says(&["cannot read the bundle"]);
    assert!(!env.path("evil").exists() && !Path::new("/tmp/evil").exists());
    let left: Vec<_> = fs::read_dir(env.path("tmp")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(left.iter().all(|path| path.is_file()), "{left:?}");
}
