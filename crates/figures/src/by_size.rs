//! Lines over test sizes, a panel for each task: mean and standard deviation over seeds.

use pgn_lab::collection::{Spread, title};

use crate::{
    plot::{Mark, Panel, legend},
    svg::{Anchor, Font, Ink, Stroke, Svg},
};

/// The value for a task and a size.
pub type Value<'a> = Box<dyn Fn(&str, usize) -> Option<Spread> + 'a>;

/// One line in every panel.
pub struct Line<'a> {
    pub name: &'a str,
    pub stroke: Stroke,
    pub value: Value<'a>,
    /// Someone else's, drawn as a ring.
    pub theirs: Value<'a>,
}

/// What the models of Table 1, `pgn-free` and `pgn-free-2` are drawn with.
pub const STROKES: [(&str, Stroke); 8] = [
    ("gnn", Stroke { ink: Ink::Vermilion, width: 2.0, dashes: "8 3" }),
    ("deepsets", Stroke { ink: Ink::Purple, width: 2.0, dashes: "2 3" }),
    ("pgn-nm", Stroke { ink: Ink::Orange, width: 2.2, dashes: "9 3 2 3" }),
    ("pgn", Stroke { ink: Ink::Blue, width: 3.0, dashes: "" }),
    ("pgn-free", Stroke { ink: Ink::Blue, width: 3.0, dashes: "12 3" }),
    ("pgn-free-2", Stroke { ink: Ink::Green, width: 3.0, dashes: "" }),
    ("pgn-ptrs", Stroke { ink: Ink::Green, width: 2.0, dashes: "5 3" }),
    ("oracle-ptrs", Stroke { ink: Ink::Quiet, width: 2.0, dashes: "" }),
];

/// The ink of a model in every figure, by name: the page draws it in the same.
///
/// ```
/// assert_eq!(pgn_figures::model_ink("pgn"), Some("blue"));
/// assert_eq!(pgn_figures::model_ink("someone-else"), None);
/// ```
pub fn model_ink(model: &str) -> Option<&'static str> {
    let found = STROKES.iter().find(|(name, _)| *name == model);
    found.map(|(_, stroke)| stroke.ink.name())
}

/// The picture; `rings` is what the legend calls them, if there are any.
pub fn draw(
    (heading, up): (&str, &str),
    tasks: &[&str],
    sizes: &[usize],
    lines: &[Line<'_>],
    rings: Option<&str>,
) -> String {
    let (left, top, wide, high, gap) = (70.0, 92.0, 330.0, 260.0, 30.0);
    let mut svg = Svg::new(left + tasks.len() as f64 * (wide + gap), top + high + 52.0);
    svg.text((14.0, 24.0), heading, Font::new(15.0, Ink::Text, Anchor::Start).bold());
    let mut marks: Vec<(Mark, &str)> =
        lines.iter().map(|line| (Mark::Line(line.stroke), line.name)).collect();
    let ring = Mark::Dot(Ink::Back, Stroke::new(Ink::Quiet, 1.6));
    marks.extend(rings.map(|name| (ring, name)));
    legend(&mut svg, (14.0, 50.0), &marks);
    // From 0 to 1, or further down where a mean is below.
    let means = tasks.iter().flat_map(|task| {
        sizes.iter().flat_map(move |&n| lines.iter().filter_map(move |line| (line.value)(task, n)))
    });
    let lowest = means.map(|spread| spread.mean).fold(0.0, f64::min);
    let bottom = (lowest / 0.2).floor() * 0.2;
    for (index, task) in tasks.iter().enumerate() {
        let panel = Panel {
            at: (left + index as f64 * (wide + gap), top),
            size: (wide, high),
            xs: (-0.2, sizes.len() as f64 - 0.8),
            ys: (bottom, 1.0),
        };
        panel.grid(&mut svg, index == 0);
        for (number, line) in lines.iter().enumerate() {
            // Side by side, so that spreads and rings can be told apart, and inside the panel.
            let others = (lines.len() - 1) as f64;
            let aside = 0.06f64.min(0.36 / others) * (number as f64 - others / 2.0);
            draw_line(&mut svg, &panel, (task, sizes), line, aside);
        }
        panel.floor(&mut svg);
        for (place, nodes) in sizes.iter().enumerate() {
            let font = Font::new(11.0, Ink::Quiet, Anchor::Middle);
            svg.text((panel.x(place as f64), top + high + 16.0), &nodes.to_string(), font);
        }
        panel.title(&mut svg, &title(task));
        panel.name_below(&mut svg, "nodes, n");
        if index == 0 {
            panel.name_left(&mut svg, up, 38.0);
        }
    }
    svg.finish(heading)
}

fn draw_line(
    svg: &mut Svg,
    panel: &Panel,
    (task, sizes): (&str, &[usize]),
    line: &Line<'_>,
    aside: f64,
) {
    let at = |place: usize| place as f64 + aside;
    let mut points = Vec::new();
    for (place, &nodes) in sizes.iter().enumerate() {
        if let Some(Spread { mean, std, .. }) = (line.value)(task, nodes) {
            points.push((at(place), mean));
            if let Some(std) = std {
                let bar = [mean - std, mean + std];
                let ends = bar.map(|value| (at(place), value.clamp(panel.ys.0, panel.ys.1)));
                panel.line(svg, &ends, Stroke::new(line.stroke.ink, 1.2));
            }
        }
    }
    panel.line(svg, &points, line.stroke);
    for (place, &nodes) in sizes.iter().enumerate() {
        if let Some(theirs) = (line.theirs)(task, nodes) {
            let middle = (panel.x(at(place)), panel.y(theirs.mean));
            svg.circle(middle, 3.6, Ink::Back, Stroke::new(line.stroke.ink, 1.8));
        }
    }
}
