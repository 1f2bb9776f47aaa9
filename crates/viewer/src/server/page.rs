//! The page, built into the program.

use hyper::header;

/// A file of the page: its path, what it is, and its bytes.
type File = (&'static str, &'static str, &'static [u8]);

/// All there is: nothing is ever read from disk for a path that a request names.
static FILES: [File; 5] = [
    ("/", "text/html; charset=utf-8", include_bytes!("../../assets/index.html")),
    ("/page.js", "text/javascript; charset=utf-8", include_bytes!("../../assets/page.js")),
    ("/page.css", "text/css; charset=utf-8", include_bytes!("../../assets/page.css")),
    ("/icon.svg", "image/svg+xml", include_bytes!("../../assets/icon.svg")),
    (
        "/third-party.txt",
        "text/plain; charset=utf-8",
        include_bytes!("../../assets/third-party.txt"),
    ),
];

/// What is at `path`, if it is a file of the page.
pub fn file(path: &str) -> Option<(&'static str, &'static [u8])> {
    FILES.iter().find(|(known, ..)| *known == path).map(|&(_, kind, bytes)| (kind, bytes))
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
