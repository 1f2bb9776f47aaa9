//! Who may ask: requests for other hosts are refused.
//!
//! A page on the web can make its own name point to 127.0.0.1 and then read what listens there
//! as if it were its own server (DNS rebinding). It cannot change the `Host` header its browser
//! sends, which holds that name: so names other than `localhost` are refused, and so are
//! addresses that this server does not listen on.

use std::net::IpAddr;

use hyper::{HeaderMap, Uri, header, http::uri::Authority};

use crate::refusal::{Answer, Refusal};

/// The hosts a request may name.
#[derive(Clone, Debug)]
pub struct Guard {
    listening: IpAddr,
    names: Vec<String>,
}

impl Guard {
    /// For a server that listens on `listening` and is also known by `names`.
    pub fn new(listening: IpAddr, names: &[String]) -> Guard {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Guard { listening, names }
    }

    /// Refuses a request for another host, or one that a page of another host sent.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Answer<()> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Refusal::bad("a request needs exactly one Host header"));
        };
        let host = host.to_str().unwrap_or_default();
        self.check_host(host)?;
        if let Some(authority) = uri.authority() {
            self.check_host(authority.as_str())?;
        }
        // Sent along by browsers with everything but plain navigation.
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            match origin.strip_prefix("http://").or(origin.strip_prefix("https://")) {
                // Another port is another program's page. Port 80 goes without saying.
                Some(from) if is_same(from, host) || self.is_named(from) => {}
                _ => return Err(refused(origin)),
            }
        }
        // What browsers say where they send no origin: an image or a script of another page. A link
        // on one may be followed.
        let says = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        match says("sec-fetch-site") {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) if says("sec-fetch-mode") == Some("navigate") => Ok(()),
            Some(site) => Err(refused(site)),
        }
    }

    fn is_named(&self, host: &str) -> bool {
        let authority = host.parse::<Authority>().ok();
        authority.is_some_and(|all| self.names.contains(&all.host().to_ascii_lowercase()))
    }

    fn check_host(&self, host: &str) -> Answer<()> {
        // The port is free to differ, as it does behind `ssh -L`.
        let name = match host.parse::<Authority>() {
            Ok(authority) if !host.contains('@') => authority.host().to_ascii_lowercase(),
            _ => return Err(refused(host)),
        };
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let allowed = match bare.parse::<IpAddr>() {
            Ok(address) => {
                address.is_loopback()
                    || address == self.listening
                    || self.listening.is_unspecified()
                    || self.names.contains(&name)
            }
            Err(_) => name == "localhost" || self.names.contains(&name),
        };
        if allowed { Ok(()) } else { Err(refused(host)) }
    }
}

/// Whether an origin is the host that was asked, by name and, where the host has one, by port.
fn is_same(origin: &str, host: &str) -> bool {
    let without_port = || origin.rsplit_once(':').map_or(origin, |(name, _)| name);
    origin.eq_ignore_ascii_case(host)
        || !host.contains(':') && without_port().eq_ignore_ascii_case(host)
}

fn refused(host: &str) -> Refusal {
    let host: String = host.chars().take(100).collect();
    Refusal::new(
        421,
        format!("this server does not answer for the host {host:?}; --allow-host adds a name"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(guard: &Guard, host: &str) -> bool {
        guard.check_host(host).is_ok()
    }

    #[test]
    fn on_loopback_only_loopback_is_answered() {
        let guard = Guard::new("127.0.0.1".parse().unwrap(), &["Box.example".into()]);
        for host in ["localhost", "LOCALHOST:7474", "127.0.0.1:1", "[::1]:80", "box.example"] {
            assert!(check(&guard, host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "192.168.0.7",
            "localhost@evil.example",
            "evil@localhost",
            "",
            ":80",
            "local host",
            "[::2]",
        ] {
            assert!(!check(&guard, host), "{host}");
        }
    }

    #[test]
    fn on_every_address_any_address_but_no_name_is_answered() {
        let guard = Guard::new("0.0.0.0".parse().unwrap(), &[]);
        assert!(check(&guard, "192.168.0.7:7474"));
        assert!(!check(&guard, "evil.example"));
        let guard = Guard::new("192.168.0.7".parse().unwrap(), &[]);
        assert!(check(&guard, "192.168.0.7"));
        assert!(!check(&guard, "192.168.0.8"));
    }

    #[test]
    fn origins_count_too() {
        let guard = Guard::new("127.0.0.1".parse().unwrap(), &[]);
        let with = |origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "localhost:7474".parse().unwrap());
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            guard.check(&Uri::from_static("/"), &headers).is_ok()
        };
        assert!(with("http://localhost:7474"));
        assert!(!with("https://evil.example"));
        assert!(!with("null"));
        // A page of another program on this machine.
        assert!(!with("http://localhost:8000"));
        assert!(!with("http://127.0.0.1:7474"));
        let fetched = |site: &'static str, mode: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "localhost:7474".parse().unwrap());
            headers.insert("sec-fetch-site", site.parse().unwrap());
            headers.insert("sec-fetch-mode", mode.parse().unwrap());
            guard.check(&Uri::from_static("/"), &headers).is_ok()
        };
        assert!(fetched("same-origin", "cors") && fetched("none", "navigate"));
        assert!(fetched("cross-site", "navigate"));
        assert!(!fetched("cross-site", "no-cors") && !fetched("same-site", "no-cors"));
        let no_host = HeaderMap::new();
        assert!(guard.check(&Uri::from_static("/"), &no_host).is_err());
    }
}
