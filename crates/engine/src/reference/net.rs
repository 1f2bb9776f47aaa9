//! Weights in f64 and the one kind of layer there is.

use crate::{Config, Error, Model, Parameters, Tensor};

/// Weights, or their gradients.
#[derive(Clone, Debug)]
pub struct Net {
    /// Names, shapes and places, as in [`Parameters`].
    pub tensors: Vec<Tensor>,
    /// All values, flat.
    pub values: Vec<f64>,
}

/// y = W x + b. W is kept by columns, so that the loop over outputs is the inner one: a hundred
/// thousand messages are computed with it.
#[derive(Clone, Debug)]
pub struct Linear {
    columns: Vec<f64>, // [in, out]
    bias: Vec<f64>,    // [out]; zeros where a layer has none
}

impl Linear {
    /// W x + b.
    pub fn apply(&self, x: &[f64]) -> Vec<f64> {
        let outputs = self.bias.len();
        debug_assert_eq!(x.len() * outputs, self.columns.len());
        let mut y = self.bias.clone();
        for (x, column) in x.iter().zip(self.columns.chunks_exact(outputs)) {
            for (y, w) in y.iter_mut().zip(column) {
                *y += w * x;
            }
        }
        y
    }
}

impl Net {
    /// The weights of a model with this config; everything here is to be called with the same.
    pub fn new(config: &Config, parameters: &Parameters) -> Result<Net, Error> {
        Model::from_parameters(config.clone(), parameters.clone())?;
        let values = parameters.values().iter().map(|&value| f64::from(value)).collect();
        Ok(Net { tensors: parameters.tensors().to_vec(), values })
    }

    /// Zeros of the same shapes, for gradients.
    pub fn zeros_like(&self) -> Net {
        Net { tensors: self.tensors.clone(), values: vec![0.0; self.values.len()] }
    }

    fn find(&self, name: &str) -> Option<&Tensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }

    fn weight(&self, name: &str) -> &Tensor {
        let weight = self.find(&format!("{name}.weight"));
        weight.unwrap_or_else(|| unreachable!("`Net::new` has checked that there is {name}"))
    }

    /// The layer `name`: `name.weight` and, if there is one, `name.bias`.
    pub fn linear(&self, name: &str) -> Linear {
        let weight = self.weight(name);
        let (outputs, inputs) = (weight.shape[0], weight.shape[1]);
        let values = &self.values[weight.range.clone()];
        let columns =
            (0..inputs).flat_map(|i| (0..outputs).map(move |o| values[o * inputs + i])).collect();
        let bias = match self.find(&format!("{name}.bias")) {
            Some(bias) => self.values[bias.range.clone()].to_vec(),
            None => vec![0.0; outputs],
        };
        Linear { columns, bias }
    }

    /// Back through the layer `name` at input `x`: given ∂y, adds ∂W and ∂b to `gradient` and
    /// returns ∂x.
    pub fn linear_backward(
        &self,
        name: &str,
        x: &[f64],
        d_y: &[f64],
        gradient: &mut Net,
    ) -> Vec<f64> {
        let weight = self.weight(name);
        let inputs = x.len();
        debug_assert_eq!(weight.shape, [d_y.len(), inputs]);
        let mut d_x = vec![0.0; inputs];
        for (o, &d) in d_y.iter().enumerate() {
            for i in 0..inputs {
                let at = weight.range.start + o * inputs + i;
                d_x[i] += self.values[at] * d;
                gradient.values[at] += d * x[i];
            }
        }
        if let Some(bias) = self.find(&format!("{name}.bias")) {
            for (o, &d) in d_y.iter().enumerate() {
                gradient.values[bias.range.start + o] += d;
            }
        }
        d_x
    }
}
