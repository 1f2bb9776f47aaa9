//! The page, built into the program.

use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};

/// A file of the page.
struct File {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

/// All there is: nothing is ever read from disk for a path that a request names.
const FILES: [File; 5] = [
    File {
        path: "/",
        kind: "text/html; charset=utf-8",
        bytes: include_bytes!("../assets/index.html"),
    },
    File {
        path: "/page.js",
        kind: "text/javascript; charset=utf-8",
        bytes: include_bytes!("../assets/page.js"),
    },
    File {
        path: "/page.css",
        kind: "text/css; charset=utf-8",
        bytes: include_bytes!("../assets/page.css"),
    },
    File { path: "/icon.svg", kind: "image/svg+xml", bytes: include_bytes!("../assets/icon.svg") },
    File {
        path: "/third-party.txt",
        kind: "text/plain; charset=utf-8",
        bytes: include_bytes!("../assets/third-party.txt"),
    },
];

/// The file at `path`, if it is one of the page's.
pub fn file(path: &str) -> Option<Response> {
    let file = FILES.iter().find(|file| file.path == path)?;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(file.kind));
    Some((StatusCode::OK, headers, file.bytes).into_response())
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
