//! The page in a real browser, opened from disk: it loads nothing, its policy refuses nothing, and
//! no part of it is wider than a phone.

use std::fs;
use std::process::Command;

use crate::needs::needs;
use crate::support::{Place, data};

/// Counts what the page loads, what its policy refuses, and errors, and tells them in its title.
const PROBE: &str = "<script>\
    let refused = 0, errors = 0;\
    document.addEventListener('securitypolicyviolation', () => refused++);\
    window.addEventListener('error', () => errors++);\
    window.addEventListener('load', () => {\
        for (const it of document.querySelectorAll('details')) it.open = true;\
        const loaded = performance.getEntriesByType('resource').length;\
        const wide = Math.max(0, document.documentElement.scrollWidth - innerWidth);\
        document.title = `loaded ${loaded} refused ${refused} errors ${errors} wide ${wide}`;\
    });</script>";

/// The page's title after its script has run, in a window of that width.
fn title(place: &Place, page: &str, width: u32) -> String {
    let address = format!("file://{}", place.path(page));
    let done = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", place.path("tmp/browser")))
        .arg(format!("--window-size={width},900"))
        .args(["--virtual-time-budget=3000", "--dump-dom", &address])
        .output()
        .unwrap();
    let _ = fs::remove_dir_all(place.path("tmp/browser"));
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    title.unwrap_or_else(|| panic!("no title in {text:.500}")).0.to_owned()
}

#[test]
fn the_page_loads_nothing_and_fits_a_phone() {
    if !needs("chromium") {
        return;
    }
    let place = Place::new();
    place.write("run.jsonl", fs::read(data("run-v1.jsonl")).unwrap());
    for language in ["en", "ja"] {
        let args = ["compare", "run.jsonl", "--format", "html", "--lang", language];
        let page = place.envtax(args).run().exits(0).out;
        assert!(!page.contains("<script"), "the page needs no script");
        // Only the check itself is a script, which the page's policy would refuse.
        let page = page.replacen("none';", "none'; script-src 'unsafe-inline';", 1);
        place.write("page.html", page.replacen("</title>", &format!("</title>{PROBE}"), 1));
        // A window of a headless browser is 500 pixels wide at least.
        assert_eq!(title(&place, "page.html", 500), "loaded 0 refused 0 errors 0 wide 0");
    }
    // The check sees what is loaded: the policy refuses it.
    let loading = format!("</title>{PROBE}<img src=\"http://127.0.0.1:9/x.png\">");
    let page = place.read("page.html").replacen(&format!("</title>{PROBE}"), &loading, 1);
    place.write("loading.html", page);
    assert!(title(&place, "loading.html", 500).contains("refused 1"));
}
