//! Requests as they come over a socket: bounded, and only of the kinds that the viewer answers.

use std::io::Read;

use anyhow::{Context, Result, bail, ensure};

/// Most bytes of a request's head, and most headers.
const HEAD: usize = 16 << 10;
const HEADERS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    Get,
    Post,
}

/// A request without its body, which no answer depends on.
#[derive(Debug)]
pub struct Request {
    pub method: Method,
    pub path: String,
    /// Names and values of the form behind the `?`.
    pub query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
}

impl Request {
    /// Reads a request; none from a client that sends nothing.
    pub fn read(stream: &mut impl Read) -> Result<Option<Request>> {
        let mut head = Vec::new();
        let mut part = [0; 2048];
        loop {
            let count = match stream.read(&mut part) {
                Ok(count) => count,
                Err(_) if head.is_empty() => return Ok(None),
                Err(error) => return Err(error).context("reading a request"),
            };
            if count == 0 && head.is_empty() {
                return Ok(None);
            }
            head.extend_from_slice(&part[..count]);
            if let Some(request) = parse(&head)? {
                return Ok(Some(request));
            }
            ensure!(count > 0, "the request has no end");
            ensure!(head.len() < HEAD, "the request is too long");
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The last value of that name in the form.
    pub fn value(&self, name: &'static str) -> Option<&str> {
        self.values(name).last()
    }

    /// All values of that name that are not empty.
    pub fn values(&self, name: &'static str) -> impl Iterator<Item = &str> {
        let own = self.query.iter().filter(move |(own, _)| own == name);
        own.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

/// The request if its head is complete.
fn parse(head: &[u8]) -> Result<Option<Request>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut found = httparse::Request::new(&mut headers);
    if found.parse(head).context("this is no HTTP request")?.is_partial() {
        return Ok(None);
    }
    let method = match found.method {
        Some("GET") => Method::Get,
        Some("POST") => Method::Post,
        other => bail!("the method `{}` is not answered", other.unwrap_or_default()),
    };
    let target = found.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((decoded(name)?, decoded(value)?))
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let headers = found.headers.iter();
    Ok(Some(Request {
        method,
        path: decoded(path)?,
        query: pairs.collect::<Result<_>>()?,
        headers: headers.map(|it| (it.name.to_ascii_lowercase(), text(it.value))).collect(),
    }))
}

/// `a%20b+c` as text.
fn decoded(text: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next(), rest.next()].map(|it| it.unwrap_or(b'?'));
                let digits = std::str::from_utf8(&digits).unwrap_or("?");
                u8::from_str_radix(digits, 16).context("a `%` without two digits behind it")?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).context("the address is no UTF-8")
}

/// A text as a part of an address.
pub fn encoded(text: &str) -> String {
    let part = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) => char::from(byte).into(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut bytes: &[u8]) -> Result<Option<Request>> {
        Request::read(&mut bytes)
    }

    #[test]
    fn a_request_is_read_with_its_form() {
        let text = b"GET /t/compare?file=a%20b.jsonl&file=c%2B&x HTTP/1.1\r\nHost: h\r\n\r\n";
        let request = read(text).unwrap().unwrap();
        assert_eq!((request.method, request.path.as_str()), (Method::Get, "/t/compare"));
        assert_eq!(request.values("file").collect::<Vec<_>>(), ["a b.jsonl", "c+"]);
        assert_eq!((request.header("host"), request.value("x")), (Some("h"), None));
    }

    #[test]
    fn what_is_no_request_is_refused() {
        assert!(read(b"").unwrap().is_none());
        let long = [b"GET /".to_vec(), vec![b'a'; HEAD], b" HTTP/1.1\r\n\r\n".to_vec()].concat();
        let odd: [&[u8]; 5] = [
            b"GET / HTTP/1.1\r\nHost: h\r\n",
            b"PUT / HTTP/1.1\r\n\r\n",
            b"\x16\x03\x01 tls",
            b"GET /%zz HTTP/1.1\r\n\r\n",
            &long,
        ];
        for bytes in odd {
            assert!(read(bytes).is_err(), "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn what_is_encoded_is_decoded_to_the_same() {
        for text in ["a b", "日本", "a&b=c?/%+\"<"] {
            assert_eq!(decoded(&encoded(text)).unwrap(), text);
        }
    }
}
