//! Back-propagation through time, layer by layer in the reverse of `step.rs`.

use pgn_structures::Sequence;

use super::{
    Margin, Rows, add_to, concat,
    net::Net,
    step::{Attention, Pass, attention, processors, sigmoid},
    unroll::{Losses, Share, Taught, Unrolled, mask_weight, unroll},
};
use crate::{AttentionInput, Config, Error, Example, TrainerOptions};

/// A batch's losses, their gradients, and the closest comparison they hang on.
#[derive(Clone, Debug)]
pub struct BatchGradients {
    /// Means over the batch.
    pub losses: Losses,
    /// Of their weighted sum.
    pub gradient: Net,
    /// Below the rounding of f32, the engine may differ.
    pub margin: Margin,
}

/// What [`Trainer::gradients`](crate::Trainer::gradients) computes, for a trainer that has taken no step.
pub fn train(
    config: &Config,
    net: &Net,
    batch: &[Sequence],
    options: TrainerOptions,
) -> Result<BatchGradients, Error> {
    let TrainerOptions { seed, teacher_probability, .. } = options;
    let mut outcome = BatchGradients {
        losses: Losses::default(),
        gradient: net.zeros_like(),
        margin: Margin::default(),
    };
    for (index, &sequence) in batch.iter().enumerate() {
        Example::oracle(config, sequence).check(config)?;
        let share = Share {
            batch: batch.len(),
            index,
            running_accuracy: 0.5,
            seed,
            adam_steps: 0,
            teacher_probability,
        };
        let unrolled = unroll(config, net, sequence, share, None);
        backward(config, net, sequence, batch.len(), &unrolled, &mut outcome.gradient);
        let (sum, one) = (&mut outcome.losses, unrolled.losses);
        sum.query += one.query;
        sum.pointers += one.pointers;
        sum.masks += one.masks;
        sum.dgm += one.dgm;
        sum.total += one.total;
        sum.right += one.right;
        outcome.margin.join(unrolled.margin);
    }
    Ok(outcome)
}

/// Back-propagation through time: adds the gradients of an unrolled sequence, equation by equation
/// in the reverse order.
pub fn backward(
    config: &Config,
    net: &Net,
    sequence: Sequence,
    batch: usize,
    unrolled: &Unrolled,
    gradient: &mut Net,
) {
    let (n, ops, k, m) = (sequence.nodes(), sequence.ops(), config.k, config.m());
    let per_step = 1.0 / (batch * ops) as f64;
    let per_node = per_step / n as f64;
    let mut d_h = vec![vec![0.0; k]; n];
    for t in (0..ops).rev() {
        let taught = &unrolled.steps[t];
        let step = &taught.step;
        let mut d_z = vec![vec![0.0; k]; n];
        // Of what masks and pointers read, if that is not h.
        let mut d_own = vec![vec![0.0; k]; n];

        // (3): ∂ of −log P(answer) is σ − answer.
        let d = f64::from(config.losses.query)
            * per_step
            * (sigmoid(step.logit) - f64::from(sequence.answers[t]));
        let d_top = net.linear_backward("decoder", &step.top, &[d], gradient);
        let [shares_z, shares_h] = &step.top_shares;
        for i in 0..n {
            for d in 0..k {
                d_z[i][d] += shares_z[i][d] * d_top[d];
                d_h[i][d] += shares_h[i][d] * d_top[k + d];
            }
        }

        // (4)
        let d_pointer_h = if config.pointer_processor { &mut d_own } else { &mut d_h };
        for (i, &logit) in step.mask_logits.iter().enumerate() {
            let d = f64::from(config.losses.masks)
                * per_node
                * mask_weight(config, sequence.mask(t)[i])
                * (sigmoid(logit) - f64::from(sequence.mask(t)[i]));
            let input = concat(&step.z[i], &step.pointer_h[i]);
            let d_input = net.linear_backward("mask", &input, &[d], gradient);
            add_to(&mut d_z[i], &d_input[..k]);
            add_to(&mut d_pointer_h[i], &d_input[k..]);
        }

        // (6)
        if config.has_attention() {
            attention_backward(config, net, taught, &mut d_z, d_pointer_h, gradient);
        }

        // (2) and (8)
        let names = processors(config);
        for (processor, d_h) in [&d_h, &d_own].into_iter().enumerate().take(names.len()) {
            let mut d_x = d_h.clone();
            for pass in step.passes[processor].iter().rev() {
                d_x = pass_backward(net, &names[processor], pass, &d_x, gradient);
            }
            d_z.iter_mut().zip(&d_x).for_each(|(d_z, d_x)| add_to(d_z, d_x));
        }

        // (1)
        for i in 0..n {
            let input = concat(&step.e[i], &step.h_before[i]);
            let d_input = net.linear_backward("encoder", &input, &d_z[i], gradient);
            d_h[i] = d_input[m..].to_vec();
            d_h[i].resize(k, 0.0);
        }
    }
}

/// From ∂h of one application of a processor to ∂x.
fn pass_backward(
    net: &Net,
    (messages, update): &(Vec<&'static str>, &'static str),
    pass: &Pass,
    d_h: &Rows,
    gradient: &mut Net,
) -> Rows {
    let (n, k) = (pass.x.len(), pass.x[0].len());
    let mut d_x = vec![vec![0.0; k]; n];
    for i in 0..n {
        let open = |d: usize| if pass.h[i][d] > 0.0 { d_h[i][d] } else { 0.0 };
        let d_update: Vec<f64> = (0..k).map(open).collect();
        let input = pass.m.iter().fold(pass.x[i].clone(), |parts, m| concat(&parts, &m[i]));
        let d_input = net.linear_backward(update, &input, &d_update, gradient);
        add_to(&mut d_x[i], &d_input[..k]);
        for (channel, message) in messages.iter().enumerate() {
            let d_m = &d_input[(channel + 1) * k..][..k];
            for (j, shares) in &pass.aggregated[channel][i] {
                if shares.iter().any(|&share| share != 0.0) {
                    let d_message: Vec<f64> = (0..k).map(|d| shares[d] * d_m[d]).collect();
                    let input = concat(&pass.x[i], &pass.x[*j]);
                    let d_input = net.linear_backward(message, &input, &d_message, gradient);
                    add_to(&mut d_x[i], &d_input[..k]);
                    add_to(&mut d_x[*j], &d_input[k..]);
                }
            }
        }
    }
    d_x
}

/// From weight · log α(target) of every node that was asked, to query, key and what they read.
fn attention_backward(
    config: &Config,
    net: &Net,
    taught: &Taught,
    d_z: &mut Rows,
    d_h: &mut Rows,
    gradient: &mut Net,
) {
    let (step, k) = (&taught.step, config.k);
    let n = step.z.len();
    for (kind, (query, key)) in attention(config).into_iter().enumerate() {
        let Attention { q, key: keys, .. } = &step.attention[kind];
        let mut d_q = vec![vec![0.0; k]; n];
        let mut d_key = vec![vec![0.0; k]; n];
        for asked in taught.asked.iter().filter(|asked| asked.kind == kind) {
            for j in 0..n {
                // ∂ log α(target) / ∂ score j
                let d_log = if j == asked.target { 1.0 } else { 0.0 } - asked.alpha[j];
                let d_score = taught.weight * d_log;
                for d in 0..k {
                    d_q[asked.node][d] += d_score * keys[j][d];
                    d_key[j][d] += d_score * q[asked.node][d];
                }
            }
        }
        for i in 0..n {
            let mut d_x = net.linear_backward(query, &step.x[i], &d_q[i], gradient);
            add_to(&mut d_x, &net.linear_backward(key, &step.x[i], &d_key[i], gradient));
            match config.attention_input {
                AttentionInput::H => add_to(&mut d_h[i], &d_x),
                AttentionInput::Zh => {
                    add_to(&mut d_z[i], &d_x[..k]);
                    add_to(&mut d_h[i], &d_x[k..]);
                }
            }
        }
    }
}
