//! A real browser without a window, which reports how it rendered a page.

use std::fs;
use std::path::Path;

use super::TestEnvironment;

/// Names of the browser's program.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A page as the browser rendered it.
pub(crate) struct Shown {
    /// The page's elements after loading, as HTML.
    pub dom: String,
    /// Width of the whole page, in pixels.
    pub width: u32,
    /// Where the first plot ends, in pixels from the top; `None` without a plot.
    pub plot_bottom: Option<u32>,
    /// The beginnings of the boxes whose content is wider than the box.
    pub too_wide: Vec<String>,
    /// Resources that the page requested.
    pub requests: Vec<String>,
}

/// The first of `PROGRAMS` in PATH. A missing browser fails the test, because a skipped check
/// would go unnoticed.
fn program() -> &'static str {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_here = |name: &&&str| std::env::split_paths(&path).any(|dir| dir.join(name).is_file());
    PROGRAMS.iter().find(is_here).expect(
        "no browser to look at report.html with: install chromium, e.g. apt-get install chromium",
    )
}

/// Shows a page in a frame of this width, as on a phone: a window cannot be made that narrow.
pub(crate) fn show(env: &TestEnvironment, page: &Path, width: u32) -> Shown {
    show_place(env, page, "", width)
}

/// The same after a link to the place in the page with this id.
pub(crate) fn show_place(env: &TestEnvironment, page: &Path, id: &str, width: u32) -> Shown {
    let [frame, profile] = ["tmp/frame.html", "tmp/profile"].map(|name| env.path(name));
    let url = format!("file://{}#{id}", page.display());
    fs::write(
        &frame,
        format!(
            "<!doctype html><iframe src=\"{url}\" style=\"width:{width}px;height:800px;border:0\" \
             onload=\"said.textContent=JSON.stringify({{\
             width: this.contentDocument.documentElement.scrollWidth,\
             plot: [...this.contentDocument.querySelectorAll('.first figure > svg')]\
             .map(e => Math.ceil(e.getBoundingClientRect().bottom)).find(bottom => bottom > 0),\
             wide: [...this.contentDocument.querySelectorAll('.scroll, pre, table, dl')]\
             .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML.slice(0, 90)),\
             requests: this.contentWindow.performance.getEntriesByType('resource').map(r => r.name),\
             dom: this.contentDocument.documentElement.outerHTML}})\"></iframe>\
             <pre id=said></pre>"
        ),
    )
    .unwrap();
    let said = said_by(env, &frame, &profile, &[]);
    let requests = said["requests"].as_array().unwrap().iter();
    let wide = said["wide"].as_array().unwrap().iter();
    Shown {
        plot_bottom: said["plot"].as_u64().map(|bottom| bottom.try_into().unwrap()),
        too_wide: wide.map(|text| text.as_str().unwrap().to_owned()).collect(),
        dom: said["dom"].as_str().unwrap().to_owned(),
        width: said["width"].as_u64().unwrap().try_into().unwrap(),
        requests: requests.map(|name| name.as_str().unwrap().to_owned()).collect(),
    }
}

/// Scrolls a page that loads itself again, and waits until it has; returns where the page was
/// before and after, in pixels from the top.
pub(crate) fn show_again(env: &TestEnvironment, page: &Path, width: u32, y: u32) -> (u32, u32) {
    let [frame, profile] = ["tmp/frame.html", "tmp/profile"].map(|name| env.path(name));
    let url = format!("file://{}", page.display());
    fs::write(
        &frame,
        format!(
            "<!doctype html><iframe id=page src=\"{url}\" style=\"width:{width}px;height:500px;\
             border:0\"></iframe><pre id=said></pre><script>let before = -1;\
             page.onload = () => setTimeout(() => {{ const view = page.contentWindow;\
             if (before < 0) {{ view.scrollTo(0, {y}); before = Math.round(view.scrollY); }}\
             else said.textContent = JSON.stringify([before, Math.round(view.scrollY)]);\
             }}, 300);</script>"
        ),
    )
    .unwrap();
    // A clock that runs ahead whenever the browser has nothing to do.
    let said = said_by(env, &frame, &profile, &["--virtual-time-budget=9000"]);
    let at = |at: usize| said[at].as_u64().unwrap().try_into().unwrap();
    (at(0), at(1))
}

/// Opens a page that writes JSON into its element `said`.
fn said_by(
    env: &TestEnvironment,
    frame: &Path,
    profile: &Path,
    more: &[&str],
) -> serde_json::Value {
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
    let args: Vec<&str> = more.iter().copied().chain(args).collect();
    let output = env.tool(&env.path("tmp"), program(), &args).expect(0);
    let said = output.stdout.split("<pre id=\"said\">").nth(1).expect("the frame was read");
    let said = said.split("</pre>").next().unwrap();
    let said = said.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}");
    serde_json::from_str(&said.replace("&amp;", "&")).unwrap()
}
