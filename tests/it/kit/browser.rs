//! A real browser without a window, which says what it made of a page.

use std::fs;
use std::path::Path;

use super::TestEnvironment;

/// Names it goes by.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A page as it came out on a screen of that width.
pub struct Shown {
    /// The page's elements after it was read, as HTML.
    pub dom: String,
    /// How wide all of it is, in pixels.
    pub width: u32,
    /// Whatever was asked for besides the page itself.
    pub requests: Vec<String>,
}

/// Which of them is here. A missing browser fails a test: that a page is right in one is
/// nothing that can be left out unseen.
fn program() -> &'static str {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here = |name: &&&str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    PROGRAMS.iter().find(is_here).expect(
        "no browser to look at report.html with: install chromium, e.g. apt-get install chromium",
    )
}

/// Shows a page in a frame of that width, as a phone would: a window of its own cannot be made
/// that narrow.
pub fn show(env: &TestEnvironment, page: &Path, width: u32) -> Shown {
    let [frame, profile] = ["tmp/frame.html", "tmp/profile"].map(|name| env.path(name));
    let url = format!("file://{}", page.display());
    fs::write(
        &frame,
        format!(
            "<!doctype html><iframe src=\"{url}\" style=\"width:{width}px;height:800px;border:0\" \
             onload=\"said.textContent=JSON.stringify({{\
             width: this.contentDocument.documentElement.scrollWidth,\
             requests: this.contentWindow.performance.getEntriesByType('resource').map(r => r.name),\
             dom: this.contentDocument.documentElement.outerHTML}})\"></iframe>\
             <pre id=said></pre>"
        ),
    )
    .unwrap();
    let profile = format!("--user-data-dir={}", profile.display());
    let frame = format!("file://{}", frame.display());
    let args = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--allow-file-access-from-files",
        &profile,
        "--dump-dom",
        &frame,
    ];
    let output = env.tool(&env.path("tmp"), program(), &args).expect(0);
    let said = output.stdout.split("<pre id=\"said\">").nth(1).expect("the frame was read");
    let said = said.split("</pre>").next().unwrap();
    let said = said.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}");
    let said: serde_json::Value = serde_json::from_str(&said.replace("&amp;", "&")).unwrap();
    let requests = said["requests"].as_array().unwrap().iter();
    Shown {
        dom: said["dom"].as_str().unwrap().to_owned(),
        width: said["width"].as_u64().unwrap().try_into().unwrap(),
        requests: requests.map(|name| name.as_str().unwrap().to_owned()).collect(),
    }
}
