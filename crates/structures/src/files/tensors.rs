//! Named tensors with metadata in one `.safetensors` file.
//!
//! Reading goes through the `safetensors` crate. Writing does not: the crate keeps metadata in a
//! hash map, so that the same contents would give other bytes on every run.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensorError, SafeTensors, tensor::Metadata};

use super::{atomic_write_with, regular::open_regular};
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

/// The types of elements: what a tensor holds, and a method of each for writer and reader.
macro_rules! elements {
    ($($element:ident $dtype:ident),*) => {
        #[derive(Clone, Copy, Debug)]
        enum Values<'a> {
            $($dtype(&'a [$element]),)*
        }

        impl Values<'_> {
            /// The type, bytes of an element, and how many there are.
            fn layout(self) -> (Dtype, usize, usize) {
                match self {
                    $(Values::$dtype(all) => (Dtype::$dtype, size_of::<$element>(), all.len()),)*
                }
            }

            /// In pieces of some kilobytes: no second copy of a large tensor in memory.
            fn write(self, file: &mut dyn Write) -> io::Result<()> {
                match self {
                    $(Values::$dtype(all) => all.chunks(4096).try_for_each(|piece| {
                        let bytes: Vec<u8> = piece.iter().flat_map(|v| v.to_le_bytes()).collect();
                        file.write_all(&bytes)
                    }),)*
                }
            }
        }

        impl<'a> TensorWriter<'a> {
            $(#[doc = concat!("Adds a tensor of ", stringify!($element), ".")]
            pub fn $element(&mut self, name: &str, shape: &[usize], values: &'a [$element]) {
                debug_assert_eq!(shape.iter().product::<usize>(), values.len(), "shape of {name}");
                self.tensors.push((name.to_string(), shape.to_vec(), Values::$dtype(values)));
            })*
        }

        impl TensorReader {
            $(#[doc = concat!("The tensor of ", stringify!($element), " of that name and shape.")]
            pub fn $element(&self, name: &str, shape: &[usize]) -> Result<Vec<$element>> {
                let bytes = self.data(name, Dtype::$dtype, shape)?.as_chunks().0;
                Ok(bytes.iter().map(|&value| $element::from_le_bytes(value)).collect())
            })*
        }
    };
}

elements!(f32 F32, f64 F64, u32 U32, u64 U64, u8 U8);

impl<'a> TensorWriter<'a> {
    /// A file with nothing in it.
    pub fn new() -> Self {
        TensorWriter::default()
    }

    /// Sets one line of metadata.
    pub fn metadata(&mut self, key: &str, value: impl ToString) {
        self.metadata.insert(key.to_string(), value.to_string());
    }

    /// Writes the file atomically.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        atomic_write_with(path, |file| self.write(file))
    }

    /// Writes the contents of the file.
    pub fn write(&self, file: &mut dyn Write) -> io::Result<()> {
        // Wide elements first, as other writers do, so that every tensor is aligned.
        let mut order: Vec<_> = self.tensors.iter().collect();
        order.sort_by_key(|(_, _, values)| std::cmp::Reverse(values.layout().1));

        // Put together by hand: the order of keys in a JSON map is up to a crate's features.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut entries = Vec::new();
        if !self.metadata.is_empty() {
            let lines = self.metadata.iter().map(|(k, v)| format!("{}:{}", quoted(k), quoted(v)));
            entries.push(format!("\"__metadata__\":{{{}}}", lines.collect::<Vec<_>>().join(",")));
        }
        let mut start = 0;
        for (name, shape, values) in &order {
            let (dtype, width, count) = values.layout();
            let (name, end) = (quoted(name), start + count * width);
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

/// The most bytes of a header that the crate reads.
const MAX_HEADER: u64 = 100_000_000;

/// A `.safetensors` file in memory, whose tensors are asked for by name, type and shape.
#[derive(Debug)]
pub struct TensorReader {
    path: PathBuf,
    bytes: Vec<u8>,
    metadata: BTreeMap<String, String>,
}

impl TensorReader {
    /// Reads a regular file and checks that its header and its size agree: the header first, so
    /// that a large file of something else is refused before all of it is in memory.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let read = || -> io::Result<(Vec<u8>, u64)> {
            let (mut file, length) = open_regular(&path, u64::MAX)?;
            let mut bytes = Vec::new();
            (&mut file).take(8).read_to_end(&mut bytes)?;
            let header = bytes.as_slice().try_into().map_or(0, u64::from_le_bytes);
            (&mut file).take(header.min(MAX_HEADER)).read_to_end(&mut bytes)?;
            let tensors = match SafeTensors::read_metadata(&bytes) {
                // Nothing else is wrong: it lacks its tensors.
                Err(SafeTensorError::MetadataIncompleteBuffer) => {
                    serde_json::from_slice(&bytes[8..]).map_or(0, |all: Metadata| all.data_len())
                }
                _ => 0,
            };
            if (bytes.len() + tensors) as u64 == length {
                bytes.try_reserve_exact(tensors)?;
                file.take(tensors as u64).read_to_end(&mut bytes)?;
            }
            Ok((bytes, length))
        };
        let (bytes, length) =
            read().map_err(|cause| Error::Io { verb: "read", path: path.clone(), cause })?;
        TensorReader::of(path, bytes, length)
    }

    /// A file already in memory; `path` is what errors call it.
    pub fn from_bytes(path: PathBuf, bytes: Vec<u8>) -> Result<Self> {
        let length = bytes.len() as u64;
        TensorReader::of(path, bytes, length)
    }

    /// A file of `length` bytes, of which `bytes` are enough to tell what is wrong with it.
    fn of(path: PathBuf, bytes: Vec<u8>, length: u64) -> Result<Self> {
        let trouble = match SafeTensors::read_metadata(&bytes) {
            Ok((_, header)) if bytes.len() as u64 == length => {
                let metadata = header.metadata().iter().flatten();
                let metadata = metadata.map(|(k, v)| (k.clone(), v.clone())).collect();
                return Ok(TensorReader { path, bytes, metadata });
            }
            Ok(_) | Err(SafeTensorError::MetadataIncompleteBuffer) => format!(
                "the file has {length} bytes, which is not what its header describes: it was cut \
                 short, or something was added"
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
