//! `envtax view`: real requests over real sockets, friendly and hostile ones.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Place, Running, data};

/// A viewer of the place, and how it is asked.
pub struct Viewer<'a> {
    running: Running<'a>,
    port: u16,
    token: String,
}

impl<'a> Viewer<'a> {
    pub fn of(place: &'a Place, folder: &str) -> Viewer<'a> {
        let running = place.envtax(["view", folder, "--lang", "en"]).start();
        let begin = Instant::now();
        loop {
            let printed = running.printed();
            if let Some(rest) = printed.strip_prefix("http://127.0.0.1:") {
                let (port, rest) = rest.split_once('/').unwrap();
                if let Some((token, _)) = rest.split_once("/\n") {
                    let (port, token) = (port.parse().unwrap(), token.to_owned());
                    return Viewer { running, port, token };
                }
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "it printed `{printed}`");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends these bytes and reads the whole answer.
    fn send(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn ask(&self, method: &str, path: &str, headers: &str) -> String {
        self.send(format!("{method} {path} HTTP/1.1\r\n{headers}\r\n").as_bytes())
    }

    /// Where a browser finds what is at that address below the token.
    pub fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{}/{path}", self.port, self.token)
    }

    /// The page at that address below the token.
    fn page(&self, path: &str) -> String {
        let host = format!("Host: 127.0.0.1:{}\r\n", self.port);
        self.ask("GET", &format!("/{}/{path}", self.token), &host)
    }
}

#[track_caller]
fn is(answer: &str, status: u16, part: &str) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer:.300}");
    assert!(answer.contains(part), "no `{part}` in {answer}");
}

fn place() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("runs")).unwrap();
    place.write("runs/run.jsonl", fs::read(data("run-v1.jsonl")).unwrap());
    place.write("secret.jsonl", fs::read(data("run-v1.jsonl")).unwrap());
    place
}

#[test]
fn files_are_listed_compared_changed_and_kept() {
    let place = place();
    let viewer = Viewer::of(&place, "runs");
    let list = viewer.page("");
    is(&list, 200, "run.jsonl");
    assert!(list.contains("default-src 'none'") && list.contains("no-store"), "{list}");
    let page = viewer.page("compare?file=run.jsonl");
    is(&page, 200, "syscall.getppid");
    is(&viewer.page("compare?file=run.jsonl&lang=ja"), 200, "結果の要約");
    let other = viewer.page("compare?file=run.jsonl&reference=other&margin=50&sort=tax");
    is(&other, 200, "other");
    let filtered = viewer.page("compare?file=run.jsonl&filter=file.stat");
    assert!(!filtered.contains(">syscall.getppid<") && filtered.contains("file.stat"));
    is(&viewer.page("download?format=svg&file=run.jsonl&chart=matrix"), 200, "<svg ");
    is(&viewer.page("download?format=article&file=run.jsonl"), 200, "attachment");
    is(&viewer.page("download?format=json&file=run.jsonl"), 200, "\"reference\"");
    is(&viewer.page("history?row=syscall.getppid"), 200, "<svg ");
    is(&viewer.page("nothing"), 404, "nothing");
    let host = format!("Host: localhost:{}\r\n", viewer.port);
    is(&viewer.ask("POST", &format!("/{}/stop", viewer.token), &host), 200, "ended");
    viewer.running.wait().exits(0);
}

/// Where the first link of the page leads whose address has that part.
#[track_caller]
fn link(page: &str, part: &str) -> String {
    let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let found = links.map(|it| it.replace("&amp;", "&")).find(|it| it.contains(part));
    found.unwrap_or_else(|| panic!("no link with `{part}`"))
}

/// The table of docs/RESULTS.md: the links that each task follows are there, and lead to answers.
#[test]
fn each_task_takes_three_clicks_at_most() {
    let place = place();
    let viewer = Viewer::of(&place, "runs");
    let page = viewer.page(&link(&viewer.page(""), "compare?file=run.jsonl"));
    let worst = link(&page, "sort=tax");
    let (address, part) = worst.split_once('#').unwrap();
    assert_eq!(part, "matrix");
    let sorted = viewer.page(address);
    let matrix = sorted.split_once("class=\"matrix\"").unwrap().1;
    let tax = |row: &str| {
        let at = matrix.find(&format!(">{row}</a>"));
        at.unwrap_or_else(|| panic!("no {row} in {matrix:.3000}"))
    };
    assert!(tax("process.fork reap") < tax("syscall.getppid"));
    assert!(link(&page, "#rows") == "#rows" && page.contains("id=\"rows\""));
    assert!(matrix.contains("not shown") || matrix.contains("same"), "{matrix:.3000}");
    is(&viewer.page(&link(&page, "format=article")), 200, "attachment");
    is(&viewer.page(&link(&page, "format=svg&chart=forest")), 200, "<svg ");
    assert!(link(&page, "#words") == "#words");
    let flag = link(&page, "#flag-").replace('#', "id=\"");
    assert!(page.contains(&flag), "{flag}");
}

#[test]
fn a_long_list_has_pages_that_keep_what_is_ticked() {
    let place = place();
    let whole = fs::read_to_string(data("run-v1.jsonl")).unwrap();
    let header = whole.lines().next().unwrap();
    for at in 0..260 {
        place.write(&format!("runs/long-{at:03}.jsonl"), format!("{header}\n"));
        place.write(&format!("runs/other-{at}.txt"), "no run file");
    }
    let viewer = Viewer::of(&place, "runs");
    let first = viewer.page("?find=long&order=name");
    is(&first, 200, "1 to 250 of 260");
    assert!(first.contains("long-249.jsonl") && !first.contains("long-250.jsonl"));
    let second = viewer.page("?find=long&order=name&file=long-001.jsonl&from=250");
    is(&second, 200, "251 to 260 of 260");
    let kept = "<input type=\"hidden\" name=\"file\" value=\"long-001.jsonl\">";
    assert!(second.contains(kept) && second.contains("long-259.jsonl"), "{second}");
    is(&viewer.page("?from=x"), 400, "from");
    is(&viewer.page("?from=9999"), 200, "of 261");
}

#[test]
fn a_file_that_changes_is_read_again() {
    let place = place();
    let viewer = Viewer::of(&place, "runs");
    is(&viewer.page(""), 200, "2026-11-21T11:11:48Z");
    is(&viewer.page("history?row=syscall.getppid"), 200, "2026-11-21T11:11:48Z");
    let changed = place.read("runs/run.jsonl").replacen("2026-11-21T", "2026-10-2T", 1);
    place.write("runs/run.jsonl", changed);
    is(&viewer.page(""), 200, "2026-10-2T11:11:48Z");
    is(&viewer.page("history?row=syscall.getppid"), 200, "2026-10-2T11:11:48Z");
}

#[test]
fn whoever_does_not_know_the_address_gets_nothing() {
    let place = place();
    let viewer = Viewer::of(&place, "runs");
    let (port, token) = (viewer.port, &viewer.token);
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let refused = |path: &str, headers: &str| {
        let answer = viewer.ask("GET", path, headers);
        is(&answer, 403, "");
        assert!(!answer.contains("run.jsonl"), "{answer}");
    };
    refused("/", &host);
    refused("/00000000000000000000000000000000/", &host);
    refused(&format!("/{}/", &token[..31]), &host);
    let own = format!("/{token}/");
    refused(&own, "");
    refused(&own, &format!("Host: evil.example:{port}\r\n"));
    refused(&own, "Host: 127.0.0.1\r\n");
    refused(&own, &format!("{host}Origin: http://evil.example\r\n"));
    refused(&own, &format!("{host}Origin: null\r\n"));
    refused(&own, &format!("{host}Sec-Fetch-Site: cross-site\r\n"));
    let cross = format!("{host}Origin: http://evil.example\r\n");
    is(&viewer.ask("POST", &format!("{own}stop"), &cross), 403, "");
    let same = format!("{host}Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n");
    is(&viewer.ask("GET", &own, &same), 200, "run.jsonl");
}

#[test]
fn only_files_of_the_list_are_read() {
    let place = place();
    let link = place.path("runs/link.jsonl");
    std::os::unix::fs::symlink(place.path("secret.jsonl"), link).unwrap();
    fs::create_dir(place.path("runs/folder.jsonl")).unwrap();
    let viewer = Viewer::of(&place, "runs");
    for name in [
        "..%2Fsecret.jsonl",
        "../secret.jsonl",
        "%2e%2e/secret.jsonl",
        "link.jsonl",
        "folder.jsonl",
        "/etc/passwd",
        "run.jsonl%00",
        "./run.jsonl",
        "",
    ] {
        let answer = viewer.page(&format!("compare?file={name}"));
        is(&answer, 400, "");
        assert!(!answer.contains("getppid"), "{name}: {answer}");
    }
    for path in ["../../../etc/passwd", "%2e%2e/secret.jsonl", "run.jsonl"] {
        is(&viewer.page(path), 404, "");
    }
}

#[test]
fn odd_folders_and_requests_are_answered_in_words() {
    let place = place();
    let whole = fs::read(data("run-v1.jsonl")).unwrap();
    fs::create_dir(place.path("empty")).unwrap();
    place.write("runs/damaged.jsonl", whole[..whole.len() / 2].to_ascii_uppercase());
    place.write("runs/none.jsonl", b"");
    place.write("runs/<b>evil\u{1b}[2J.jsonl", &whole);
    is(&Viewer::of(&place, "empty").page(""), 200, "no run files");
    let viewer = Viewer::of(&place, "runs");
    let list = viewer.page("");
    is(&list, 200, "no readable run file");
    assert!(!list.contains("<b>") && !list.contains('\u{1b}'), "{list}");
    is(&viewer.page("compare?file=none.jsonl"), 400, "none.jsonl");
    is(&viewer.page("compare?file=%3Cb%3Eevil%1B%5B2J.jsonl"), 200, "getppid");
    is(&viewer.page("compare"), 400, "tick");
    is(&viewer.page("compare?file=run.jsonl&margin=x"), 400, "number");
    is(&viewer.page("compare?file=run.jsonl&lang=xx"), 400, "xx");
    is(&viewer.page("download?file=run.jsonl&format=..%2Fx"), 400, "no download");
    is(&viewer.page("history?row=%3Cimg%3E"), 200, "&lt;img&gt;");
    is(&viewer.send(b"\x16\x03\x01 hello\r\n\r\n"), 400, "");
    is(&viewer.send(&[b"GET /".as_slice(), &[b'a'; 40_000]].concat()), 400, "too long");
}

#[test]
fn a_port_in_use_and_a_folder_that_is_none_are_named() {
    let place = place();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let done = place.envtax(["view", "runs", "--port", &port]).run().exits(2);
    done.complains(&port).complains("--port 0");
    place.envtax(["view", "nowhere"]).run().exits(2).complains("`nowhere`");
    place.envtax(["view", "secret.jsonl"]).run().exits(2).complains("no folder");
}
