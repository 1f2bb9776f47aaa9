//! The weights of a model: one flat array, named tensors in it, and their file.
//!
//! Names and shapes are those of `model.safetensors`: every weight is \[out, in\], as PyTorch's
//! `nn.Linear` has it.

use std::{ops::Range, path::Path};

use pgn_structures::{Rng, files::atomic_write};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use crate::{Config, Error, processor::Design, streams};

/// The weights, in the order of their random streams. Names may be added at the end; the order
/// never changes, since initial models depend on it.
const WEIGHTS: [&str; 25] = [
    "encoder.weight",
    "message.weight",
    "update.weight",
    "decoder.weight",
    "mask.weight",
    "query.weight",
    "key.weight",
    "parent.weight",
    "children.weight",
    "global.weight",
    "relation.weight",
    "message.2.weight",
    "message.3.weight",
    "message.4.weight",
    "pointer.message.weight",
    "pointer.message.2.weight",
    "pointer.message.3.weight",
    "pointer.message.4.weight",
    "pointer.update.weight",
    "query.2.weight",
    "key.2.weight",
    "query.3.weight",
    "key.3.weight",
    "query.4.weight",
    "key.4.weight",
];

/// The number of a weight's random stream: its place in the list, or else a hash of its name above
/// all places, so that two names never share one.
fn stream_number(name: &str) -> u64 {
    match WEIGHTS.iter().position(|&known| known == name) {
        Some(place) => place as u64,
        // FNV-1a.
        None => {
            name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            }) | 1 << 32
        }
    }
}

/// Names and shapes of tensors, in the order of the file.
pub(crate) type Shapes = Vec<(&'static str, Vec<usize>)>;

/// A tensor's name, shape and place in the flat array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tensor {
    /// As in `model.safetensors`, for example `message.weight`.
    pub name: &'static str,
    /// \[out, in\] for weights, \[out\] for biases.
    pub shape: Vec<usize>,
    /// Where its values are.
    pub range: Range<usize>,
}

/// All weights of one model (or their gradients, or Adam's moments).
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    tensors: Vec<Tensor>,
    values: Vec<f32>,
}

impl Parameters {
    /// Zeros, in the layout of `config`: tensors a model has no use for are absent.
    pub fn zeros(config: &Config) -> Parameters {
        Parameters::of_shapes((Design::of(config).tensors)(config))
    }

    /// Zeros of these names and shapes, in this order.
    pub(crate) fn of_shapes(shapes: Shapes) -> Parameters {
        let mut end = 0;
        let tensors = shapes
            .into_iter()
            .map(|(name, shape)| {
                let start = end;
                end += shape.iter().product::<usize>();
                Tensor { name, shape, range: start..end }
            })
            .collect();
        Parameters { tensors, values: vec![0.0; end] }
    }

    /// Zeros of the same names and shapes.
    pub fn zeroed(&self) -> Parameters {
        Parameters { tensors: self.tensors.clone(), values: vec![0.0; self.values.len()] }
    }

    /// Fresh weights, drawn as the config's [`crate::Initialisation`] has it.
    ///
    /// Each tensor draws from a stream of its own, so that two models at one seed start from the
    /// same weights wherever they have them in common.
    pub fn initial(config: &Config, seed: u64) -> Parameters {
        let mut parameters = Parameters::zeros(config);
        let mut last = (0, 1);
        for tensor in &parameters.tensors {
            let values = &mut parameters.values[tensor.range.clone()];
            let key = |number: u64, part| [seed, streams::WEIGHTS.number(), number, part];
            match tensor.shape[..] {
                [fan_out, fan_in] => {
                    let number = stream_number(tensor.name);
                    let mut rng = Rng::new(key(number, 0));
                    config.initialisation.draw_weights(&mut rng, fan_in, fan_out, values);
                    last = (number, fan_in);
                }
                // A bias follows the weights it belongs to.
                _ => {
                    config.initialisation.draw_biases(&mut Rng::new(key(last.0, 1)), last.1, values)
                }
            }
        }
        parameters
    }

    /// Every tensor, in the file's order.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// All values, flat.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All values, flat, to change.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The values of one tensor, or `None` if the model has none of that name.
    pub fn get(&self, name: &str) -> Option<&[f32]> {
        let tensor = self.tensors.iter().find(|tensor| tensor.name == name)?;
        Some(&self.values[tensor.range.clone()])
    }

    /// The values of one tensor, to change.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut [f32]> {
        let tensor = self.tensors.iter().find(|tensor| tensor.name == name)?;
        Some(&mut self.values[tensor.range.clone()])
    }

    /// The number of columns of a tensor this crate knows to be there; 1 for a bias.
    pub(crate) fn columns(&self, name: &str) -> usize {
        let tensor = self.tensors.iter().find(|tensor| tensor.name == name);
        tensor.and_then(|tensor| tensor.shape.get(1)).copied().unwrap_or(1)
    }

    /// The values of a tensor this crate knows to be there.
    pub(crate) fn tensor(&self, name: &str) -> &[f32] {
        self.get(name).unwrap_or_else(|| unreachable!("the layout has {name}"))
    }

    /// The values of a tensor this crate knows to be there, to change.
    pub(crate) fn tensor_mut(&mut self, name: &str) -> &mut [f32] {
        self.get_mut(name).unwrap_or_else(|| unreachable!("the layout has {name}"))
    }

    /// The bytes of a `model.safetensors`.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes: Vec<u8> = self.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let views = self.tensors.iter().map(|tensor| {
            let data = &bytes[4 * tensor.range.start..4 * tensor.range.end];
            let view = TensorView::new(Dtype::F32, tensor.shape.clone(), data);
            (tensor.name, view.unwrap_or_else(|_| unreachable!("shape and range agree")))
        });
        safetensors::serialize(views, None)
            .unwrap_or_else(|_| unreachable!("names are distinct and sizes agree"))
    }

    /// Reads the weights of `config`'s model from the bytes of a `model.safetensors`; `path` is
    /// named in errors.
    pub fn from_bytes(config: &Config, bytes: &[u8], path: &Path) -> Result<Parameters, Error> {
        Parameters::zeros(config).filled_from(bytes, path)
    }

    /// These tensors with the values of a file; `path` is named in errors.
    pub(crate) fn filled_from(self, bytes: &[u8], path: &Path) -> Result<Parameters, Error> {
        let refuse = |trouble: String| Error::File { path: path.to_owned(), trouble };
        let file = SafeTensors::deserialize(bytes)
            .map_err(|error| refuse(format!("not a readable safetensors file ({error})")))?;
        let mut parameters = self;
        for tensor in &parameters.tensors {
            let name = tensor.name;
            let view = file
                .tensor(name)
                .map_err(|_| refuse(format!("tensor '{name}' is missing; this model has it")))?;
            if view.dtype() != Dtype::F32 || view.shape() != tensor.shape {
                return Err(refuse(format!(
                    "tensor '{name}' is {:?} {:?}; expected F32 {:?}",
                    view.dtype(),
                    view.shape(),
                    tensor.shape
                )));
            }
            let values = &mut parameters.values[tensor.range.clone()];
            for (value, chunk) in values.iter_mut().zip(view.data().as_chunks::<4>().0) {
                *value = f32::from_le_bytes(*chunk);
                if !value.is_finite() {
                    return Err(refuse(format!(
                        "tensor '{name}' holds {value}; expected finite numbers"
                    )));
                }
            }
        }
        if let Some(name) = file.names().into_iter().find(|name| parameters.get(name).is_none()) {
            return Err(refuse(format!("tensor '{name}' is not one of this model's")));
        }
        Ok(parameters)
    }

    /// Writes `model.safetensors`, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        Ok(atomic_write(path, &self.to_bytes())?)
    }

    /// Reads `model.safetensors`.
    pub fn load(config: &Config, path: &Path) -> Result<Parameters, Error> {
        let bytes = std::fs::read(path).map_err(|error| Error::File {
            path: path.to_owned(),
            trouble: format!("cannot be read ({error})"),
        })?;
        Parameters::from_bytes(config, &bytes, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_has_a_stream_of_its_own() {
        let names = WEIGHTS.into_iter().chain(["new.weight", "newer.weight", "encoder.weight.2"]);
        let numbers: std::collections::BTreeSet<u64> = names.map(stream_number).collect();
        assert_eq!(numbers.len(), WEIGHTS.len() + 3);
        assert_eq!(stream_number("encoder.weight"), 0);
    }
}
