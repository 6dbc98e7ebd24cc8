//! The viewer: a small server on the loopback interface that shows the run files of one folder with
//! the pages of `report/`. May use `compare`, `import`, `model`, `report`, `runfile` and `words`.
//! Must not write a file, start a process, or answer anybody who does not know the address.
//!
//! Who may ask: a request must come over the loopback interface, name this server as its host, come
//! from no other site, and have the token in its path. What can be read: the files that the list
//! shows, by their exact names.

mod files;
mod history;
mod kept;
mod pages;
mod request;
mod response;

use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::report::Explained;
use crate::words::{Language, Words};
use files::Files;
use history::Taxes;
use request::{Method, Request};
use response::Response;

/// Most requests that are answered at the same time: browsers open some connections in advance.
const MOST: usize = 16;
/// How long a client may take to send its request, and to take each part of the answer.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// A server that listens.
pub struct Viewer {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// What every request needs.
struct Shared {
    files: Files,
    taxes: Taxes,
    language: Language,
    probe: fn(&str, &Words) -> Option<Explained>,
    /// Name of this server as clients write it.
    hosts: [String; 2],
    token: String,
    open: AtomicUsize,
}

/// Whether the server goes on.
#[derive(PartialEq)]
enum Next {
    Serve,
    Stop,
}

impl Viewer {
    /// Listens on that port of 127.0.0.1; on a free one if it is 0.
    /// `probe` tells what a probe is, by its id.
    pub fn listen(
        folder: PathBuf,
        port: u16,
        language: Language,
        probe: fn(&str, &Words) -> Option<Explained>,
    ) -> Result<Viewer> {
        let files = Files::of(folder)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).with_context(|| {
            format!("listening on {address}; `--port 0` takes a port that is free")
        })?;
        let port = listener.local_addr().context("asking for the own port")?.port();
        let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let (token, open) = (token(), AtomicUsize::new(0));
        let shared = Shared { files, taxes: Taxes::new(), language, probe, hosts, token, open };
        Ok(Viewer { listener, shared: Arc::new(shared) })
    }

    /// Where a browser finds it.
    pub fn address(&self) -> String {
        format!("http://{}/{}/", self.shared.hosts[0], self.shared.token)
    }

    /// Answers requests until one asks it to stop.
    pub fn serve(&self) -> Result<()> {
        let (stop, stopped) = std::sync::mpsc::channel();
        loop {
            let (stream, _) = self.listener.accept().context("accepting a connection")?;
            if stopped.try_recv().is_ok() {
                return Ok(());
            }
            let (shared, stop) = (self.shared.clone(), stop.clone());
            if shared.open.fetch_add(1, Ordering::SeqCst) >= MOST {
                shared.open.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let own = self.listener.local_addr().context("asking for the own address")?;
            thread::spawn(move || {
                let next = shared.answer(stream);
                shared.open.fetch_sub(1, Ordering::SeqCst);
                if next == Next::Stop {
                    // The loop waits for a connection, so it gets one.
                    let _ = stop.send(());
                    let _ = TcpStream::connect(own);
                }
            });
        }
    }
}

impl Shared {
    /// Reads a request and answers it. A client that goes away is no error.
    fn answer(&self, mut stream: TcpStream) -> Next {
        let _ = stream.set_read_timeout(Some(TIME_LIMIT));
        let _ = stream.set_write_timeout(Some(TIME_LIMIT));
        let (response, next) = match Request::read(&mut stream) {
            Ok(Some(request)) => self.respond(&request),
            Ok(None) => return Next::Serve,
            Err(error) => (Response::error(400, &format!("{error:#}")), Next::Serve),
        };
        let _ = stream.write_all(&response.bytes()).and_then(|()| stream.flush());
        drain(&mut stream);
        next
    }

    fn respond(&self, request: &Request) -> (Response, Next) {
        if let Err(refusal) = self.check(request) {
            return (Response::error(403, refusal), Next::Serve);
        }
        let path = request.path.trim_start_matches('/');
        let rest = path.strip_prefix(&self.token).and_then(|rest| rest.strip_prefix('/'));
        let Some(rest) = rest else {
            let text = "the address lacks the viewer's token: use the one that it printed";
            return (Response::error(403, text), Next::Serve);
        };
        if request.method == Method::Post {
            return match rest {
                "stop" => (Response::plain("envtax view has ended."), Next::Stop),
                _ => (Response::error(405, "only GET"), Next::Serve),
            };
        }
        let page =
            pages::answer((&self.files, &self.taxes), (self.language, self.probe), rest, request);
        (page.unwrap_or_else(|error| pages::problem(self.language, &error)), Next::Serve)
    }

    /// Refuses requests that another site or another name of this machine made.
    fn check(&self, request: &Request) -> Result<(), &'static str> {
        let is_own = |host: &str| self.hosts.iter().any(|own| own == host);
        if !request.header("host").is_some_and(is_own) {
            return Err("this is not the host that the viewer listens as");
        }
        let origin = request.header("origin");
        let own_origin = |origin: &str| origin.strip_prefix("http://").is_some_and(is_own);
        if origin.is_some_and(|origin| !own_origin(origin)) {
            return Err("another site asks");
        }
        let site = request.header("sec-fetch-site");
        // `none` is a user who opens the address.
        if site.is_some_and(|site| !["same-origin", "none"].contains(&site)) {
            return Err("another site asks");
        }
        Ok(())
    }
}

/// Reads what a client still sends, within bounds: a socket that is closed with unread bytes takes
/// the answer back.
fn drain(stream: &mut TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
    let mut rest = [0; 4096];
    for _ in 0..64 {
        if stream.read(&mut rest).unwrap_or(0) == 0 {
            break;
        }
    }
}

/// 128 bits that nobody can guess: hashes under keys that the system drew.
fn token() -> String {
    let keys = [RandomState::new(), RandomState::new()];
    let words = keys.map(|key| key.hash_one(std::process::id()));
    format!("{:016x}{:016x}", words[0], words[1])
}

#[cfg(test)]
mod tests {
    #[test]
    fn tokens_are_long_and_differ() {
        let (a, b) = (super::token(), super::token());
        assert!(a.len() == 32 && a != b, "{a} {b}");
    }
}
