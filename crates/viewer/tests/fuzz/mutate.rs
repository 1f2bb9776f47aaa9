//! Mutations of files: of their bytes, and of what the bytes stand for.

use serde_json::{Value, json};

use super::readers::Kind;

/// A small generator: the same inputs on every machine, for a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn choose<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// A damaged copy: half of the time by bytes, half of the time by structure.
pub fn mutate(kind: Kind, seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = match kind {
        _ if random.below(2) == 0 => of_bytes(seed, random),
        Kind::Bytes => of_bytes(seed, random),
        Kind::Json => of_json(seed, random),
        Kind::Lines => of_lines(seed, random, of_json),
        Kind::Text => of_lines(seed, random, of_assignment),
        Kind::Tensors => of_tensors(seed, random),
    };
    if random.below(8) == 0 {
        bytes = of_bytes(&bytes, random);
    }
    bytes
}

const TOKENS: [&[u8]; 24] = [
    b"0",
    b"-1",
    b"1e999",
    b"NaN",
    b"null",
    b"true",
    b"\"\"",
    b"[]",
    b"{}",
    b"18446744073709551615",
    b"18446744073709551616",
    b"4294967296",
    b"-9223372036854775808",
    b"1e-400",
    b"\n",
    b",",
    b"\"",
    b"\xff",
    b"\x00",
    b"\xe2\x80\xae",
    b"[[[[",
    b"16777217",
    b"0.1",
    b"#",
];

fn of_bytes(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len() + 1);
        match random.below(7) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            2 if at < bytes.len() => bytes[at] = random.next() as u8,
            3 => bytes.truncate(at),
            4 => {
                let end = (at + random.below(16)).min(bytes.len());
                bytes.drain(at..end);
            }
            5 => {
                let end = (at + random.below(64)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let token = random.choose(&TOKENS).to_vec();
                let end = (at + random.below(token.len() + 1)).min(bytes.len());
                bytes.splice(at..end, token);
            }
        }
    }
    bytes
}

fn odd(random: &mut Random) -> Value {
    match random.below(16) {
        0 => json!(null),
        1 => json!(-1),
        2 => json!(u64::MAX),
        3 => json!(1e308),
        4 => json!(""),
        5 => json!("x".repeat(random.below(2000))),
        6 => json!([]),
        7 => json!({}),
        8 => json!(true),
        9 => json!(0),
        10 => json!(0.5),
        11 => json!(1u64 << random.below(64)),
        12 => json!(vec![0; random.below(200)]),
        13 => json!("\u{1b}[2J"),
        14 => json!(random.below(40)),
        _ => json!(-(random.below(1000) as f64) / 7.0),
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(count).sum::<usize>(),
        Value::Object(all) => all.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// Changes the value number `at`, in the order of `count`.
fn change(value: &mut Value, at: &mut usize, random: &mut Random) -> bool {
    if *at == 0 {
        match (random.below(4), &mut *value) {
            (0, Value::Array(all)) => {
                let again = all.clone();
                all.extend(again);
            }
            (1, Value::Array(all)) => drop(all.pop()),
            (0, Value::Object(all)) => {
                let keys: Vec<String> = all.keys().cloned().collect();
                if !keys.is_empty() {
                    all.remove(random.choose(&keys));
                }
            }
            (0, Value::Number(number)) => {
                let near = number.as_f64().unwrap_or(0.0) + random.below(3) as f64 - 1.0;
                *value = if number.is_f64() { json!(near) } else { json!(near as i64) };
            }
            _ => *value = odd(random),
        }
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(all) => all.iter_mut().any(|value| change(value, at, random)),
        Value::Object(all) => all.values_mut().any(|value| change(value, at, random)),
        _ => false,
    }
}

fn of_json(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(seed) else {
        return of_bytes(seed, random);
    };
    for _ in 0..1 + random.below(2) {
        let mut at = random.below(count(&value));
        change(&mut value, &mut at, random);
    }
    serde_json::to_vec(&value).unwrap_or_default()
}

fn of_lines(
    seed: &[u8],
    random: &mut Random,
    of_line: impl Fn(&[u8], &mut Random) -> Vec<u8>,
) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        seed.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = random.below(lines.len());
    match random.below(5) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[random.below(lines.len())].clone()),
        _ => {
            let mut line = of_line(&lines[at], random);
            line.push(b'\n');
            lines[at] = line;
        }
    }
    lines.concat()
}

/// `key = value` with another value; else other bytes.
fn of_assignment(line: &[u8], random: &mut Random) -> Vec<u8> {
    match line.iter().position(|&byte| byte == b'=') {
        Some(equals) => [&line[..=equals], odd(random).to_string().as_bytes()].concat(),
        None => of_bytes(line, random),
    }
}

fn of_tensors(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let Some((size, rest)) = seed.split_first_chunk::<8>() else { return of_bytes(seed, random) };
    let size = u64::from_le_bytes(*size) as usize;
    let Some((header, data)) = rest.split_at_checked(size) else { return of_bytes(seed, random) };
    if random.below(3) == 0 {
        let data = of_bytes(data, random);
        return [&seed[..8 + size], &data].concat();
    }
    let mut header = of_json(header, random);
    header.resize(header.len().next_multiple_of(8), b' ');
    [&(header.len() as u64).to_le_bytes(), &header[..], data].concat()
}
