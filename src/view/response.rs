//! Answers: a status, a type, and the headers that keep a page to itself.

/// What a browser may do with a page: nothing but what the page itself has, and forms to here.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

pub struct Response {
    status: u16,
    kind: &'static str,
    /// Name of the file to keep, where it is a download.
    name: Option<String>,
    body: Vec<u8>,
}

impl Response {
    pub fn page(body: Vec<u8>) -> Response {
        Response { status: 200, kind: "text/html; charset=utf-8", name: None, body }
    }

    pub fn plain(text: &str) -> Response {
        let body = format!("{text}\n").into_bytes();
        Response { status: 200, kind: "text/plain; charset=utf-8", name: None, body }
    }

    pub fn error(status: u16, text: &str) -> Response {
        Response { status, ..Response::plain(text) }
    }

    pub fn with_status(self, status: u16) -> Response {
        Response { status, ..self }
    }

    /// A file for the user to keep. The name has no quotes.
    pub fn download(name: &str, kind: &'static str, body: Vec<u8>) -> Response {
        Response { status: 200, kind, name: Some(name.to_owned()), body }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let word = match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            _ => "Error",
        };
        let mut head = format!("HTTP/1.1 {} {word}\r\n", self.status);
        let headers = [
            ("Content-Type", self.kind),
            ("Content-Security-Policy", POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
            ("Connection", "close"),
        ];
        head.extend(headers.map(|(name, value)| format!("{name}: {value}\r\n")));
        if let Some(name) = &self.name {
            head.push_str(&format!("Content-Disposition: attachment; filename=\"{name}\"\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        [head.as_bytes(), &self.body].concat()
    }
}
