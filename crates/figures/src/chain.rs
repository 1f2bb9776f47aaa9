//! The paper's figure 4: the chain `union(i, i + 1)`, where the truth degenerates into a list.

use pgn_lab::analysis::{Analyses, Analysis, Chain};
use pgn_structures::Node;

use crate::{
    Figure,
    layout::{Places, place},
    plot::{Mark, Panel, ceiling, legend},
    shapes::named,
    svg::{Anchor, Font, Ink, Stroke, Svg},
};

/// How many of the first steps are shown.
const FIRST: usize = 4;
const TRUTH: Stroke = Stroke { ink: Ink::Quiet, width: 2.0, dashes: "6 3" };
const MODEL: Stroke = Stroke { ink: Ink::Blue, width: 2.4, dashes: "" };

/// The figure of a model's first run on the disjoint-set union, if there is one.
pub fn figure(analyses: &Analyses, model: &str) -> Option<Figure> {
    let run = analyses.of("dsu", model).next()?;
    of_run(run)
}

/// The figure of one run, if it has a chain with pointers.
pub fn of_run(run: &Analysis) -> Option<Figure> {
    let chain = run.chains.iter().find(|chain| chain.pointers.is_some())?;
    let pointers = chain.pointers.as_ref()?;
    let n = chain.nodes;
    let (last_truth, last_model) = (pointers.truth.last()?, pointers.model.last()?);
    let all: Vec<Node> = (0..n as Node).collect();

    // A column for the truth, one for the first steps, one for the model and one for the depth.
    let truth = place(last_truth, &all);
    let model = place(last_model, &all);
    let (top, bottom, height) = (78.0, 16.0, 680.0);
    let room = height - top - bottom;
    let truth_at = (14.0, 56.0 + 26.0 * truth.width);
    let first_at = (truth_at.1 + 40.0, 330.0);
    let wide = (34.0 * model.width).clamp(180.0, 420.0);
    let model_at = (first_at.0 + first_at.1, wide);
    let depth_at = (model_at.0 + model_at.1 + 84.0, 270.0);
    let mut svg = Svg::new(depth_at.0 + depth_at.1 + 16.0, height);
    let heading =
        format!("The chain union(i, i + 1): {} {}, seed {}", run.task, run.model, run.seed);
    svg.text((14.0, 26.0), &heading, Font::new(15.0, Ink::Text, Anchor::Start).bold());
    let label = |svg: &mut Svg, x: f64, text: &str| {
        svg.text((x, 58.0), text, Font::new(12.0, Ink::Text, Anchor::Start).bold());
    };
    label(&mut svg, truth_at.0, "truth, end");
    forest(&mut svg, last_truth, last_truth, &truth, (truth_at.0, top), (truth_at.1, room), &all);
    label(&mut svg, first_at.0, "first operations: truth, model");
    let each = room / FIRST as f64;
    for t in 0..FIRST.min(n.saturating_sub(1)) {
        let y = top + t as f64 * each;
        let nodes = &all[..(t + 3).min(n)];
        let caption = format!("union({t}, {})", t + 1);
        svg.text((first_at.0, y + 12.0), &caption, Font::new(11.0, Ink::Quiet, Anchor::Start));
        for (side, these) in [&pointers.truth[t], &pointers.model[t]].into_iter().enumerate() {
            let x = first_at.0 + side as f64 * 150.0;
            let inside = these.iter().take(nodes.len()).all(|&to| (to as usize) < nodes.len());
            let nodes = if inside { nodes } else { &all };
            let places = place(these, nodes);
            let right = &pointers.truth[t];
            forest(&mut svg, these, right, &places, (x, y + 18.0), (140.0, each - 26.0), nodes);
        }
    }
    label(&mut svg, model_at.0, "model, end");
    forest(&mut svg, last_model, last_truth, &model, (model_at.0, top), (model_at.1, room), &all);
    depth(&mut svg, chain, (depth_at.0, top + 10.0), (depth_at.1, 210.0));
    verdict(&mut svg, run, (depth_at.0 - 40.0, top + 338.0));
    let caption = format!(
        "The paper's figure 4 with our `{}` (seed {}, n = {n}): each union links the chain so far \
         below the next node. Children are drawn below their parents; dashed orange pointers \
         differ from the true ones.",
        run.model, run.seed
    );
    Some(Figure { name: named("chain", &run.model), caption, svg: svg.finish(&heading) })
}

/// Draws the pointers of `nodes` into a box, as large as there is room for.
fn forest(
    svg: &mut Svg,
    pointers: &[Node],
    truth: &[Node],
    places: &Places,
    at: (f64, f64),
    room: (f64, f64),
    nodes: &[Node],
) {
    let cell = (room.0 / places.width).min(34.0);
    let level = (room.1 / places.height).min(52.0);
    let radius = (0.42 * cell).min(0.33 * level).min(11.0);
    let place = |node: Node| {
        let (x, y) = places.at[node as usize];
        (at.0 + (x + 0.5) * cell, at.1 + y * level + radius + 1.0)
    };
    for &node in nodes.iter().filter(|&&node| pointers[node as usize] != node) {
        let (mut from, mut to) = (place(node), place(pointers[node as usize]));
        if from.1 < to.1 {
            // The pointer that closes a cycle leads down, beside one that leads up.
            (from.0, to.0) = (from.0 + 0.5 * radius, to.0 + 0.5 * radius);
        }
        let stroke = match pointers[node as usize] == truth[node as usize] {
            true => Stroke::new(Ink::Text, 1.3),
            false => Stroke::dashed(Ink::Vermilion, 1.6, "4 2.5"),
        };
        arrow(svg, from, to, radius, stroke);
    }
    for &node in nodes {
        let root = pointers[node as usize] == node;
        let fill = if root { Ink::Pale } else { Ink::Back };
        svg.circle(place(node), radius, fill, Stroke::new(Ink::Text, if root { 2.0 } else { 1.0 }));
        let font = Font::new((radius * 1.05).min(10.0), Ink::Text, Anchor::Middle);
        let (x, y) = place(node);
        svg.text((x, y + 0.36 * font.size), &node.to_string(), font);
    }
}

fn arrow(svg: &mut Svg, from: (f64, f64), to: (f64, f64), radius: f64, stroke: Stroke) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1e-6);
    let (ux, uy) = (dx / length, dy / length);
    let start = (from.0 + ux * radius, from.1 + uy * radius);
    let tip = (to.0 - ux * (radius + 1.0), to.1 - uy * (radius + 1.0));
    svg.line(&[start, tip], stroke);
    let size = 0.45 * radius;
    let wing =
        |side: f64| (tip.0 - size * (ux + side * 0.6 * uy), tip.1 - size * (uy - side * 0.6 * ux));
    svg.line(&[wing(1.0), tip, wing(-1.0)], Stroke::new(stroke.ink, stroke.width));
}

fn depth(svg: &mut Svg, chain: &Chain, at: (f64, f64), size: (f64, f64)) {
    let row = |of: fn(&pgn_lab::analysis::Moment) -> u32| -> Vec<f64> {
        chain.steps.iter().map(|step| f64::from(of(step))).collect()
    };
    let (truth, model) = (row(|step| step.truth_depth), row(|step| step.model_depth));
    let highest = truth.iter().chain(&model).copied().fold(1.0, f64::max);
    let xs = (1.0, chain.steps.len().max(2) as f64);
    let panel = Panel { at, size, xs, ys: (0.0, ceiling(highest)) };
    panel.grid(svg, true);
    panel.steps(svg, &truth, TRUTH);
    panel.steps(svg, &model, MODEL);
    for (t, step) in chain.steps.iter().enumerate().filter(|(_, step)| !step.valid) {
        let place = (panel.x(t as f64 + 1.0), panel.y(f64::from(step.model_depth)));
        svg.circle(place, 3.6, Ink::Back, Stroke::new(Ink::Vermilion, 1.8));
    }
    panel.floor(svg);
    panel.numbers_below(svg);
    panel.name_below(svg, "operation");
    panel.name_left(svg, "depth", 32.0);
    let marks = [(Mark::Line(TRUTH), "truth"), (Mark::Line(MODEL), "model")];
    legend(svg, (at.0, at.1 + size.1 + 56.0), &marks);
    if chain.steps.iter().any(|step| !step.valid) {
        let mark = Mark::Dot(Ink::Back, Stroke::new(Ink::Vermilion, 1.8));
        legend(svg, (at.0, at.1 + size.1 + 74.0), &[(mark, "not valid")]);
    }
}

/// In how many steps the pointers are valid, at every size.
fn verdict(svg: &mut Svg, run: &Analysis, at: (f64, f64)) {
    let bold = Font::new(12.0, Ink::Text, Anchor::End).bold();
    let plain = Font::new(12.0, Ink::Text, Anchor::End);
    let columns = [46.0, 148.0, 226.0, 318.0];
    let mut row = |y: f64, cells: [&str; 4], font: Font| {
        for (x, cell) in columns.iter().zip(cells) {
            svg.text((at.0 + x, at.1 + y), cell, font);
        }
    };
    row(0.0, ["", "valid", "depth", "depth"], bold);
    row(15.0, ["n", "steps", "model", "truth"], bold);
    for (index, chain) in run.chains.iter().enumerate() {
        let valid = chain.steps.iter().filter(|step| step.valid).count();
        let valid = format!("{valid} of {}", chain.steps.len());
        let last = chain.steps.last();
        let [model, truth] = [last.map(|step| step.model_depth), last.map(|step| step.truth_depth)]
            .map(|depth| depth.map_or_else(String::new, |depth| depth.to_string()));
        let y = 36.0 + 18.0 * index as f64;
        row(y, [&chain.nodes.to_string(), &valid, &model, &truth], plain);
    }
}
