//! Versions and checksums of files; lists of indices.

use pgn_runs::{
    format::{FormatVersion, Versioned, json_start, versioned},
    indices,
    json_checksum::{add, check},
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct File {
    #[serde(default, skip_serializing)]
    format_version: FormatVersion,
    seed: u64,
}

#[test]
fn files_with_and_without_a_version_are_equal_and_newer_ones_are_refused() {
    let file = File { format_version: FormatVersion, seed: 7 };
    let text = versioned(&toml::to_string(&file).unwrap());
    assert_eq!(text, "format_version = 1\nseed = 7\n");
    assert_eq!(toml::from_str::<File>(&text).unwrap(), file);
    assert_eq!(toml::from_str::<File>("seed = 7\n").unwrap(), file);
    let error = toml::from_str::<File>("format_version = 2\nseed = 7\n").unwrap_err();
    assert!(error.message().contains("format_version is 2; this program reads version 1"));
    let json = serde_json::to_string(&Versioned::new(&file)).unwrap();
    assert_eq!(json, "{\"format_version\":1,\"seed\":7}");
    assert_eq!(serde_json::from_str::<File>(&json).unwrap(), file);
    assert!(json_start().starts_with("{\"format_version\": 1"));
}

#[test]
fn every_flipped_bit_is_noticed() {
    let plain = serde_json::to_vec_pretty(&serde_json::json!({ "f1": 0.5, "epochs": 7 }));
    let plain = [plain.unwrap(), b"\n".to_vec()].concat();
    let sealed = add(plain.clone());
    let value: serde_json::Value = serde_json::from_slice(&sealed).unwrap();
    assert_eq!(value["f1"], 0.5);
    assert!(check(&plain).is_ok() && check(&sealed).is_ok());
    for bit in 0..sealed.len() * 8 {
        let mut damaged = sealed.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(check(&damaged).is_err(), "bit {bit}");
    }
}

#[test]
fn every_small_list_comes_back() {
    for bits in 0u32..1 << 12 {
        let list: Vec<usize> = (0..12).filter(|bit| bits >> bit & 1 == 1).collect();
        let text = indices::format(&list);
        if bits > 0 {
            assert_eq!(indices::parse(&text).unwrap(), list, "{text}");
        }
    }
}

#[test]
fn mistakes_are_told() {
    for text in ["", "a", "-1", "1-", "2-1", "1,1", "1-3,2", "0-99999999", "1 2", "+1"] {
        assert!(!indices::parse(text).unwrap_err().contains('\n'), "{text}");
    }
}
