//! Named tensors with metadata in one `.safetensors` file.
//!
//! Reading goes through the `safetensors` crate. Writing does not: the crate keeps metadata in a
//! hash map, so that the same contents would give other bytes on every run.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensorError, SafeTensors};

use super::atomic_write_with;
use crate::{Error, Result};

/// Collects tensors, then writes them: the same contents, the same bytes.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("example.safetensors");
/// use pgn_structures::files::{TensorReader, TensorWriter};
///
/// let mut file = TensorWriter::new();
/// file.metadata("made-by", "an example");
/// file.f32("bias", &[2], &[0.5, -0.5]);
/// file.save(&path)?;
///
/// let file = TensorReader::open(&path)?;
/// assert_eq!(file.metadata("made-by"), Some("an example"));
/// assert_eq!(file.f32("bias", &[2])?, [0.5, -0.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct TensorWriter<'a> {
    metadata: BTreeMap<String, String>,
    tensors: Vec<(String, Vec<usize>, Values<'a>)>,
}

#[derive(Clone, Copy, Debug)]
enum Values<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    U8(&'a [u8]),
}

impl Values<'_> {
    fn dtype(self) -> Dtype {
        match self {
            Values::F32(_) => Dtype::F32,
            Values::F64(_) => Dtype::F64,
            Values::U32(_) => Dtype::U32,
            Values::U64(_) => Dtype::U64,
            Values::U8(_) => Dtype::U8,
        }
    }

    fn len(self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::U32(values) => values.len(),
            Values::U64(values) => values.len(),
            Values::U8(values) => values.len(),
        }
    }

    /// Element size in bytes.
    fn width(self) -> usize {
        match self {
            Values::F64(_) | Values::U64(_) => 8,
            Values::F32(_) | Values::U32(_) => 4,
            Values::U8(_) => 1,
        }
    }

    fn write(self, file: &mut dyn Write) -> io::Result<()> {
        match self {
            Values::F32(values) => write_all(file, values, f32::to_le_bytes),
            Values::F64(values) => write_all(file, values, f64::to_le_bytes),
            Values::U32(values) => write_all(file, values, u32::to_le_bytes),
            Values::U64(values) => write_all(file, values, u64::to_le_bytes),
            Values::U8(values) => file.write_all(values),
        }
    }
}

/// Writes `values` in pieces of some kilobytes: no second copy of a large tensor in memory.
fn write_all<T: Copy, const W: usize>(
    file: &mut dyn Write,
    values: &[T],
    bytes: impl Fn(T) -> [u8; W],
) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(4096 * W);
    for piece in values.chunks(4096) {
        buffer.clear();
        buffer.extend(piece.iter().flat_map(|&value| bytes(value)));
        file.write_all(&buffer)?;
    }
    Ok(())
}

impl<'a> TensorWriter<'a> {
    /// A file with nothing in it.
    pub fn new() -> Self {
        TensorWriter::default()
    }

    /// Sets one line of metadata.
    pub fn metadata(&mut self, key: &str, value: impl ToString) {
        self.metadata.insert(key.to_string(), value.to_string());
    }

    /// Adds an f32 tensor.
    pub fn f32(&mut self, name: &str, shape: &[usize], values: &'a [f32]) {
        self.add(name, shape, Values::F32(values));
    }

    /// Adds an f64 tensor.
    pub fn f64(&mut self, name: &str, shape: &[usize], values: &'a [f64]) {
        self.add(name, shape, Values::F64(values));
    }

    /// Adds a u32 tensor.
    pub fn u32(&mut self, name: &str, shape: &[usize], values: &'a [u32]) {
        self.add(name, shape, Values::U32(values));
    }

    /// Adds a u64 tensor.
    pub fn u64(&mut self, name: &str, shape: &[usize], values: &'a [u64]) {
        self.add(name, shape, Values::U64(values));
    }

    /// Adds a u8 tensor.
    pub fn u8(&mut self, name: &str, shape: &[usize], values: &'a [u8]) {
        self.add(name, shape, Values::U8(values));
    }

    fn add(&mut self, name: &str, shape: &[usize], values: Values<'a>) {
        debug_assert_eq!(shape.iter().product::<usize>(), values.len(), "shape of {name}");
        self.tensors.push((name.to_string(), shape.to_vec(), values));
    }

    /// Writes the file atomically.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        atomic_write_with(path, |file| self.write(file))
    }

    /// Writes the contents of the file.
    pub fn write(&self, file: &mut dyn Write) -> io::Result<()> {
        // Wide elements first, as other writers do, so that every tensor is aligned.
        let mut order: Vec<_> = self.tensors.iter().collect();
        order.sort_by_key(|(_, _, values)| std::cmp::Reverse(values.width()));

        // Put together by hand: the order of keys in a JSON map is up to a crate's features.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut entries = Vec::new();
        if !self.metadata.is_empty() {
            let lines = self.metadata.iter().map(|(k, v)| format!("{}:{}", quoted(k), quoted(v)));
            entries.push(format!("\"__metadata__\":{{{}}}", lines.collect::<Vec<_>>().join(",")));
        }
        let mut start = 0;
        for (name, shape, values) in &order {
            let end = start + values.len() * values.width();
            let (name, dtype) = (quoted(name), values.dtype());
            let shape = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
            entries.push(format!(
                r#"{name}:{{"dtype":"{dtype}","shape":[{shape}],"data_offsets":[{start},{end}]}}"#
            ));
            start = end;
        }
        let mut header = format!("{{{}}}", entries.join(",")).into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');

        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(&header)?;
        order.into_iter().try_for_each(|(_, _, values)| values.write(file))
    }
}

/// A `.safetensors` file in memory, whose tensors are asked for by name, type and shape.
#[derive(Debug)]
pub struct TensorReader {
    path: PathBuf,
    bytes: Vec<u8>,
    metadata: BTreeMap<String, String>,
}

impl TensorReader {
    /// Reads a file and checks that its header and its size agree.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let bytes = fs::read(&path).map_err(|cause| Error::Io {
            verb: "read",
            path: path.clone(),
            cause,
        })?;
        TensorReader::from_bytes(path, bytes)
    }

    /// A file already in memory; `path` is what errors call it.
    pub fn from_bytes(path: PathBuf, bytes: Vec<u8>) -> Result<Self> {
        let trouble = match SafeTensors::read_metadata(&bytes) {
            Ok((_, header)) => {
                let metadata = header.metadata().iter().flatten();
                let metadata = metadata.map(|(k, v)| (k.clone(), v.clone())).collect();
                return Ok(TensorReader { path, bytes, metadata });
            }
            Err(SafeTensorError::MetadataIncompleteBuffer) => format!(
                "the file has {} bytes, which is not what its header describes: it was cut short, \
                 or something was added",
                bytes.len()
            ),
            Err(SafeTensorError::HeaderTooSmall | SafeTensorError::InvalidHeaderLength) => {
                "the file ends inside its header: it was cut short, or is no safetensors file"
                    .to_string()
            }
            Err(other) => format!("not a valid safetensors file: {other}"),
        };
        Err(Error::File { path, trouble })
    }

    /// The file, as errors call it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error of this file that says `trouble`.
    pub fn error(&self, trouble: impl Into<String>) -> Error {
        Error::File { path: self.path.clone(), trouble: trouble.into() }
    }

    /// One line of metadata.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// One line of metadata that must be there and be a T; `expected` says what T is.
    pub fn parse<T: std::str::FromStr>(&self, key: &str, expected: &str) -> Result<T> {
        let value =
            self.metadata(key).ok_or_else(|| self.error(format!("its metadata has no `{key}`")))?;
        value.parse().map_err(|_| {
            self.error(format!("its metadata says `{key}` = `{value}`, which is not {expected}"))
        })
    }

    /// The shape of a tensor, or `None` if there is none of that name.
    pub fn shape(&self, name: &str) -> Option<Vec<usize>> {
        let file = SafeTensors::deserialize(&self.bytes).ok()?;
        Some(file.tensor(name).ok()?.shape().to_vec())
    }

    /// The names of all tensors, sorted.
    pub fn names(&self) -> Vec<String> {
        let file = SafeTensors::deserialize(&self.bytes);
        let mut names: Vec<_> = file.iter().flat_map(|f| f.names()).map(String::from).collect();
        names.sort();
        names
    }

    /// The f32 tensor of that name and shape.
    pub fn f32(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        Ok(values(self.data(name, Dtype::F32, shape)?, f32::from_le_bytes))
    }

    /// The f64 tensor of that name and shape.
    pub fn f64(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        Ok(values(self.data(name, Dtype::F64, shape)?, f64::from_le_bytes))
    }

    /// The u32 tensor of that name and shape.
    pub fn u32(&self, name: &str, shape: &[usize]) -> Result<Vec<u32>> {
        Ok(values(self.data(name, Dtype::U32, shape)?, u32::from_le_bytes))
    }

    /// The u64 tensor of that name and shape.
    pub fn u64(&self, name: &str, shape: &[usize]) -> Result<Vec<u64>> {
        Ok(values(self.data(name, Dtype::U64, shape)?, u64::from_le_bytes))
    }

    /// The u8 tensor of that name and shape.
    pub fn u8(&self, name: &str, shape: &[usize]) -> Result<Vec<u8>> {
        Ok(self.data(name, Dtype::U8, shape)?.to_vec())
    }

    fn data(&self, name: &str, dtype: Dtype, shape: &[usize]) -> Result<&[u8]> {
        let file = SafeTensors::deserialize(&self.bytes)
            .map_err(|source| self.error(format!("not a valid safetensors file: {source}")))?;
        let tensor =
            file.tensor(name).map_err(|_| self.error(format!("it has no tensor `{name}`")))?;
        if tensor.dtype() != dtype {
            let found = tensor.dtype();
            return Err(self.error(format!("`{name}` has type {found}, expected {dtype}")));
        }
        if tensor.shape() != shape {
            let found = tensor.shape();
            return Err(self.error(format!("`{name}` has shape {found:?}, expected {shape:?}")));
        }
        Ok(tensor.data())
    }
}

fn values<T, const W: usize>(bytes: &[u8], value: impl Fn([u8; W]) -> T) -> Vec<T> {
    bytes.as_chunks::<W>().0.iter().map(|&chunk| value(chunk)).collect()
}
