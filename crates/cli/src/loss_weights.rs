//! A flag for the weight of every loss, made from the engine's table of losses.

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use pgn_engine::Loss;
use serde::{Serialize, Serializer};

/// The weights that were given.
#[derive(Clone, Debug, Default)]
pub struct LossWeightArgs(pub Vec<(&'static Loss, f32)>);

/// By the names of the losses, as in a config file.
impl Serialize for LossWeightArgs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(loss, weight)| (loss.name, weight)))
    }
}

impl Args for LossWeightArgs {
    fn augment_args(command: Command) -> Command {
        command.args(Loss::ALL.iter().map(|loss| {
            Arg::new(loss.flag)
                .long(loss.flag)
                .value_name("WEIGHT")
                .allow_negative_numbers(true)
                .hide_short_help(true)
                .value_parser(value_parser!(f32))
                .help(format!("Weight of the {} loss [default: the model's]", loss.name))
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        LossWeightArgs::augment_args(command)
    }
}

impl FromArgMatches for LossWeightArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<LossWeightArgs, Error> {
        let given = |loss: &'static Loss| Some((loss, *matches.get_one::<f32>(loss.flag)?));
        Ok(LossWeightArgs(Loss::ALL.iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = LossWeightArgs::from_arg_matches(matches)?;
        Ok(())
    }
}
