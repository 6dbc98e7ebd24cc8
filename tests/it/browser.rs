//! Pages in a real browser. The page opened from disk loads nothing, its policy refuses nothing,
//! and no part of it is wider than a phone. The viewer is used and photographed in both languages
//! and both colour schemes.

use std::fs;
use std::io::Read;
use std::process::Command;

use flate2::read::ZlibDecoder;

use crate::needs::needs;
use crate::support::{Place, data};
use crate::viewer::Viewer;

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

/// What the browser prints with these arguments, in a window of that width.
fn browse(place: &Place, width: u32, args: &[&str]) -> String {
    let done = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .arg(format!("--user-data-dir={}", place.path("tmp/browser")))
        .arg(format!("--window-size={width},900"))
        .args(args)
        .output()
        .unwrap();
    let _ = fs::remove_dir_all(place.path("tmp/browser"));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// The page's title after its script has run, in a window of that width.
fn title(place: &Place, page: &str, width: u32) -> String {
    let address = format!("file://{}", place.path(page));
    let text = browse(place, width, &["--virtual-time-budget=3000", "--dump-dom", &address]);
    let title = text.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    title.unwrap_or_else(|| panic!("no title in {text:.500}")).0.to_owned()
}

/// Width, height, and the colour of the first pixel of a PNG file of 8 bits a colour.
fn picture(bytes: &[u8]) -> (u32, u32, [u8; 3]) {
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((&bytes[..8], bytes[24]), (b"\x89PNG\r\n\x1a\n".as_slice(), 8));
    let (mut packed, mut at) = (Vec::new(), 8);
    while at < bytes.len() {
        let size = number(at) as usize;
        if &bytes[at + 4..at + 8] == b"IDAT" {
            packed.extend(&bytes[at + 8..at + 8 + size]);
        }
        at += size + 12;
    }
    // The first byte is the line's filter, and no filter changes the first pixel.
    let mut first = [0; 4];
    ZlibDecoder::new(packed.as_slice()).read_exact(&mut first).unwrap();
    (number(16), number(20), [first[1], first[2], first[3]])
}

/// The background of a light and of a dark page, as in `page.css`, with the browser's name of the
/// scheme.
const SCHEMES: [(&str, &str, [u8; 3]); 2] =
    [("light", "1", [0xff, 0xff, 0xff]), ("dark", "0", [0x14, 0x17, 0x1b])];

/// A view of the viewer, with what its page must show in each language.
const VIEWS: [(&str, &str, [&str; 2]); 3] = [
    ("list", "?", ["Compare those that are ticked", "選んだファイルを比較"]),
    ("comparison", "compare?file=run-0.jsonl", ["At a glance", "一覧"]),
    (
        "history",
        "history?row=syscall.getppid",
        ["syscall.getppid over time", "syscall.getppid の推移"],
    ),
];

#[test]
fn the_viewer_is_seen_in_both_languages_and_schemes() {
    if !needs("chromium") {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("runs")).unwrap();
    let run = fs::read_to_string(data("run-v1.jsonl")).unwrap();
    for at in 0..3 {
        let own = run.replacen("2026-11-21T", &format!("2026-11-1{at}T"), 1);
        place.write(&format!("runs/run-{at}.jsonl"), own);
    }
    let viewer = Viewer::of(&place, "runs");
    for (view, path, shown) in VIEWS {
        let mut photos = Vec::new();
        for (language, shown) in ["en", "ja"].into_iter().zip(shown) {
            let address = viewer.address(&format!("{path}&lang={language}"));
            let page = browse(&place, 1000, &["--dump-dom", &address]);
            assert!(page.contains(shown), "no `{shown}` in {page:.2000}");
            assert!(page.contains(&format!("<html lang=\"{language}\">")), "{page:.200}");
            for (scheme, number, paper) in SCHEMES {
                let photo = place.path(&format!("{view}-{language}-{scheme}.png"));
                let setting = format!("--blink-settings=preferredColorScheme={number}");
                browse(&place, 1000, &[&setting, &format!("--screenshot={photo}"), &address]);
                let bytes = fs::read(&photo).unwrap();
                assert_eq!(picture(&bytes), (1000, 900, paper), "{photo}");
                assert!(!photos.contains(&bytes), "{photo} shows what another photo does");
                photos.push(bytes);
            }
            // What the views must have beside their words.
            match view {
                "list" => assert_eq!(page.matches("type=\"checkbox\"").count(), 3),
                "comparison" => assert!(page.contains("<table class=\"matrix\">")),
                _ => assert_eq!(page.matches("<circle ").count(), 3, "a dot for each file"),
            }
        }
    }
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
