//! The page, built into the program.

use hyper::{HeaderMap, header};

/// A file of the page: its path, what it is, and its bytes.
type File = (&'static str, &'static str, &'static [u8]);

/// All there is: nothing is ever read from disk for a path that a request names.
static FILES: [File; 7] = [
    ("/", "text/html; charset=utf-8", include_bytes!("../../assets/index.html")),
    ("/page.js", "text/javascript; charset=utf-8", include_bytes!("../../assets/page.js")),
    ("/page.js.gz", "text/javascript; charset=utf-8", include_bytes!("../../assets/page.js.gz")),
    ("/page.css", "text/css; charset=utf-8", include_bytes!("../../assets/page.css")),
    ("/benchmark.json", "application/json", include_bytes!("../../assets/benchmark.json")),
    ("/icon.svg", "image/svg+xml", include_bytes!("../../assets/icon.svg")),
    (
        "/third-party.txt",
        "text/plain; charset=utf-8",
        include_bytes!("../../assets/third-party.txt"),
    ),
];

/// What is at `path`, if it is a file of the page; compressed where there is such a file and the
/// asker takes it.
pub fn file(path: &str, headers: &HeaderMap) -> Option<(&'static str, &'static [u8])> {
    let find = |path: &str| FILES.iter().find(|(known, ..)| *known == path);
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let takes = accepted.is_some_and(|all| all.split(',').any(|one| one.trim() == "gzip"));
    let found = takes.then(|| find(&format!("{path}.gz"))).flatten().or_else(|| find(path));
    found.map(|&(_, kind, bytes)| (kind, bytes))
}

/// Whether bytes are compressed: nothing else that is sent begins like this.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// The headers every response carries. The page loads nothing from elsewhere, and nobody may
/// frame it.
pub const HEADERS: [(header::HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];
