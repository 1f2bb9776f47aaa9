//! A checksum at the end of a JSON file, so that damage is told from data.
//!
//! The last member of the object is `"crc32c": "8 hexadecimal digits"`, of all bytes before its
//! comma. Files without one, as older versions wrote them, are read as they are. Anyone who edits
//! such a file by hand removes that member.

/// What stands before the digits.
const BEFORE: &[u8] = b",\n  \"crc32c\": \"";
/// What stands after them, to the end of the file.
const AFTER: &[u8] = b"\"\n}\n";
/// Hexadecimal digits of the checksum.
const DIGITS: usize = 8;
/// Bytes of the checksum with what stands around it.
const SIZE: usize = BEFORE.len() + DIGITS + AFTER.len();

/// Adds a checksum to an indented JSON object.
pub(crate) fn add(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.ends_with(b"\n}\n") {
        bytes.truncate(bytes.len() - 3);
        let digits = format!("{:08x}", crc32c::crc32c(&bytes));
        bytes.extend(BEFORE.iter().chain(digits.as_bytes()).chain(AFTER));
    }
    bytes
}

/// Refuses bytes whose checksum does not fit them.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    let Some((body, end)) = bytes.split_last_chunk::<SIZE>() else { return Ok(()) };
    let (before, rest) = end.split_at(BEFORE.len());
    let (digits, after) = rest.split_at(DIGITS);
    let fitting = before.iter().zip(BEFORE).chain(after.iter().zip(AFTER)).filter(|(a, b)| a == b);
    let fitting = fitting.count();
    let fixed = BEFORE.len() + AFTER.len();
    // Damage may be in the checksum itself: what has most of its bytes is meant to be one.
    if fitting * 4 < fixed * 3 {
        return Ok(());
    }
    let expected = format!("{:08x}", crc32c::crc32c(body));
    if fitting == fixed && digits == expected.as_bytes() {
        return Ok(());
    }
    Err(format!(
        "it is damaged: its checksum says {}, its contents have {expected}",
        String::from_utf8_lossy(digits).escape_debug()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
