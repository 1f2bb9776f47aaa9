//! The losses: one table. Weights, sums, metrics, event files and curves all follow it.

use serde::{Deserialize, Serialize};

use crate::{Config, Error, error::require};

/// One loss: what it is called, and how it is shown.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Loss {
    /// Its key in configs and metrics.
    pub name: &'static str,
    /// Its tag in event files.
    pub tag: &'static str,
    /// The flag and the keyword that set its weight, as in `--mask-weight`.
    pub flag: &'static str,
    /// What it measures, in a line.
    pub summary: &'static str,
    /// Whether curves show it where it is 0 throughout; otherwise a model has it not.
    pub always_shown: bool,
}

/// A struct with the sums of some losses, by name: one mechanism for every kind of network.
macro_rules! loss_sums {
    ($(#[$doc:meta])* $name:ident { $($(#[$part_doc:meta])* $part:ident,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$part_doc])* pub $part: f64,)+
            /// The weighted sum that is minimised.
            pub total: f64,
            /// How many answers, or actions of a machine, were right.
            pub right: u64,
        }

        impl $name {
            /// Every loss with its name; not the total.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
                [$((stringify!($part), self.$part),)+].into_iter()
            }

            /// Adds `share` times another's losses, for means over batches: the share that its batch
            /// has of all.
            pub fn add(&mut self, other: &$name, share: f64) {
                $(self.$part += share * other.$part;)+
                self.total += share * other.total;
                self.right += other.right;
            }
        }
    };
}
pub(crate) use loss_sums;

macro_rules! losses {
    ($(
        $(#[doc = $weight:literal])+
        $name:ident: $summary:literal, flag: $flag:literal, always_shown: $shown:literal;
    )+) => {
        /// The weight of each loss; 0 switches it off.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct LossWeights {
            $($(#[doc = $weight])+ pub $name: f32,)+
        }

        loss_sums! {
            /// The losses of a batch, each unweighted, as means over its sequences.
            Losses { $(#[doc = $summary] $name,)+ }
        }

        impl Loss {
            /// All of them, in the order of configs and metrics.
            pub const ALL: &[Loss] = &[$(Loss {
                name: stringify!($name),
                tag: concat!("loss/", stringify!($name)),
                flag: $flag,
                summary: $summary,
                always_shown: $shown,
            },)+];
        }

        impl LossWeights {
            /// Every loss with its weight.
            pub fn iter(&self) -> impl Iterator<Item = (&'static Loss, f32)> {
                Loss::ALL.iter().zip([$(self.$name,)+])
            }
        }
    };
}

losses! {
    /// Binary cross-entropy of the answers.
    query: "Binary cross-entropy of the answers, mean over operations.",
        flag: "query-weight", always_shown: true;
    /// Cross-entropy of α against the true pointers.
    pointers: "Cross-entropy of the pointers, summed over re-aimed nodes, divided by operations × nodes.",
        flag: "pointer-weight", always_shown: false;
    /// Binary cross-entropy of the masks.
    masks: "Binary cross-entropy of the masks, mean over operations and nodes.",
        flag: "mask-weight", always_shown: false;
    /// The reward loss of Kazi et al. (2020) on sampled pointers.
    dgm: "The DGM reward loss.", flag: "dgm-weight", always_shown: false;
}

impl LossWeights {
    pub(crate) fn validate(&self) -> Result<(), Error> {
        self.iter().try_for_each(|(Loss { name, .. }, weight)| {
            require(
                weight.is_finite() && weight >= 0.0,
                &format!("losses.{name}"),
                format!(
                    "the weight of the {name} loss is {weight}; expected a finite number of at \
                     least 0"
                ),
            )
        })
    }
}

impl Losses {
    /// Sets the total to the config's weighted sum.
    pub(crate) fn weigh(&mut self, config: &Config) {
        let both = self.iter().zip(config.losses.iter());
        self.total = both.map(|((_, loss), (_, weight))| f64::from(weight) * loss).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_follow_the_table() {
        let config = Config {
            losses: LossWeights { query: 1.0, pointers: 2.0, masks: 4.0, dgm: 8.0 },
            ..Config::preset("pgn").unwrap()
        };
        let one =
            Losses { query: 1.0, pointers: 10.0, masks: 100.0, dgm: 1000.0, ..Losses::default() };
        let mut losses = one;
        losses.add(&Losses { right: 3, ..one }, 1.0);
        losses.weigh(&config);
        assert_eq!((losses.total, losses.right), (2.0 * 8421.0, 3));
        let mut mean = Losses::default();
        mean.add(&losses, 0.25);
        assert_eq!((mean.query, mean.dgm, mean.total), (0.5, 500.0, 0.25 * 16842.0));
        let names: Vec<&str> = Loss::ALL.iter().map(|loss| loss.name).collect();
        assert_eq!(names, ["query", "pointers", "masks", "dgm"]);
        assert_eq!(mean.iter().last(), Some(("dgm", 500.0)));
        assert_eq!(Loss::ALL[3].tag, "loss/dgm");
    }
}
