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
pub fn add(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.ends_with(b"\n}\n") {
        bytes.truncate(bytes.len() - 3);
        let digits = format!("{:08x}", crc32c::crc32c(&bytes));
        bytes.extend(BEFORE.iter().chain(digits.as_bytes()).chain(AFTER));
    }
    bytes
}

/// Whether there is a checksum, and it fits.
pub fn is_sealed(bytes: &[u8]) -> bool {
    let body = bytes.split_last_chunk::<SIZE>().map(|(body, _)| [body, b"\n}\n"].concat());
    body.is_some_and(|body| add(body) == bytes)
}

/// Refuses bytes whose checksum does not fit them.
pub fn check(bytes: &[u8]) -> Result<(), String> {
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
