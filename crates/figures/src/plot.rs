//! A panel with axes, into which lines and areas are drawn.

use crate::svg::{Anchor, Font, Ink, Stroke, Svg};

const TICK: f64 = 11.0;

/// A rectangle of the picture with a scale on each side.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// The upper left corner.
    pub at: (f64, f64),
    pub size: (f64, f64),
    pub xs: (f64, f64),
    pub ys: (f64, f64),
}

impl Panel {
    pub fn x(&self, value: f64) -> f64 {
        self.at.0 + self.size.0 * (value - self.xs.0) / (self.xs.1 - self.xs.0)
    }

    pub fn y(&self, value: f64) -> f64 {
        self.at.1 + self.size.1 * (1.0 - (value - self.ys.0) / (self.ys.1 - self.ys.0))
    }

    /// The background with its grid. Numbers on the left only if `numbers`.
    pub fn grid(&self, svg: &mut Svg, numbers: bool) {
        svg.rect(self.at, self.size, Ink::Panel);
        let right = self.at.0 + self.size.0;
        for tick in ticks(self.ys, (self.size.1 / 30.0) as usize) {
            let y = self.y(tick);
            svg.line(&[(self.at.0, y), (right, y)], Stroke::new(Ink::Rule, 1.0));
            if numbers {
                let font = Font::new(TICK, Ink::Quiet, Anchor::End);
                svg.text((self.at.0 - 6.0, y + 4.0), &number(tick), font);
            }
        }
    }

    /// Numbers below.
    pub fn numbers_below(&self, svg: &mut Svg) {
        let bottom = self.at.1 + self.size.1;
        let font = Font::new(TICK, Ink::Quiet, Anchor::Middle);
        for tick in ticks(self.xs, (self.size.0 / 40.0) as usize) {
            let x = self.x(tick);
            svg.line(&[(x, bottom), (x, bottom + 4.0)], Stroke::new(Ink::Quiet, 1.0));
            svg.text((x, bottom + 16.0), &number(tick), font);
        }
    }

    /// What is drawn over everything else: the line at the bottom.
    pub fn floor(&self, svg: &mut Svg) {
        let bottom = self.at.1 + self.size.1;
        let ends = [(self.at.0, bottom), (self.at.0 + self.size.0, bottom)];
        svg.line(&ends, Stroke::new(Ink::Quiet, 1.0));
    }

    pub fn title(&self, svg: &mut Svg, text: &str) {
        let font = Font::new(13.0, Ink::Text, Anchor::Middle).bold();
        svg.text((self.at.0 + self.size.0 / 2.0, self.at.1 - 9.0), text, font);
    }

    /// A line through values at 1, 2, 3, …
    pub fn steps(&self, svg: &mut Svg, values: &[f64], stroke: Stroke) {
        let points = values.iter().enumerate().map(|(t, &value)| (t as f64 + 1.0, value));
        self.line(svg, &points.collect::<Vec<_>>(), stroke);
    }

    pub fn line(&self, svg: &mut Svg, points: &[(f64, f64)], stroke: Stroke) {
        let points: Vec<_> = points.iter().map(|&(x, y)| (self.x(x), self.y(y))).collect();
        svg.line(&points, stroke);
    }

    /// The area between two rows of values at 1, 2, 3, …
    pub fn area(&self, svg: &mut Svg, lower: &[f64], upper: &[f64], ink: Ink) {
        let place = |(t, &value): (usize, &f64)| (self.x(t as f64 + 1.0), self.y(value));
        let mut points: Vec<_> = upper.iter().enumerate().map(place).collect();
        points.extend(lower.iter().enumerate().map(place).rev());
        svg.area(&points, ink);
    }

    /// Named below, in the middle.
    pub fn name_below(&self, svg: &mut Svg, text: &str) {
        let font = Font::new(12.0, Ink::Text, Anchor::Middle);
        let at = (self.at.0 + self.size.0 / 2.0, self.at.1 + self.size.1 + 35.0);
        svg.text(at, text, font);
    }

    /// Named on the left, `away` from the panel.
    pub fn name_left(&self, svg: &mut Svg, text: &str, away: f64) {
        let font = Font::new(12.0, Ink::Text, Anchor::Middle);
        svg.text_upwards((self.at.0 - away, self.at.1 + self.size.1 / 2.0), text, font);
    }
}

/// Round numbers in a range, about `count` of them and at least two.
pub fn ticks((low, high): (f64, f64), count: usize) -> Vec<f64> {
    let rough = (high - low) / count.max(2) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    let step = steps.iter().map(|step| step * power).find(|step| *step >= rough * 0.999);
    let step = step.unwrap_or(10.0 * power);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|index| index as f64 * step).collect()
}

/// The next round number not below: where an axis may end.
pub fn ceiling(value: f64) -> f64 {
    let power = 10f64.powf(value.max(1e-9).log10().floor());
    let steps = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps.iter().map(|step| step * power).find(|&top| top >= value * 0.9999).unwrap_or(value)
}

fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.replace('-', "−")
}

/// What a mark in a legend looks like.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    Area(Ink),
    Line(Stroke),
    Dot(Ink, Stroke),
}

/// Entries side by side from the upper left corner; ends below `at`'s line if there is no room.
pub fn legend(svg: &mut Svg, at: (f64, f64), entries: &[(Mark, &str)]) {
    let (mut x, mut y) = at;
    for (mark, text) in entries {
        let font = Font::new(12.0, Ink::Text, Anchor::Start);
        let wide = 30.0 + font.width(text) + 16.0;
        if x > at.0 && x + wide > svg.width {
            (x, y) = (at.0, y + 18.0);
        }
        match *mark {
            Mark::Area(ink) => svg.rect((x, y - 9.0), (22.0, 11.0), ink),
            Mark::Line(stroke) => svg.line(&[(x, y - 4.0), (x + 24.0, y - 4.0)], stroke),
            Mark::Dot(fill, stroke) => svg.circle((x + 11.0, y - 4.0), 4.0, fill, stroke),
        }
        svg.text((x + 30.0, y), text, font);
        x += wide;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks((0.0, 1.0), 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks((1.0, 300.0), 3), [100.0, 200.0, 300.0]);
        assert_eq!(ticks((0.0, 30.0), 3), [0.0, 10.0, 20.0, 30.0]);
        assert_eq!(number(0.6000000000000001), "0.6");
        assert_eq!(
            (number(-1.5), number(100.0), number(0.0)),
            ("−1.5".into(), "100".into(), "0".into())
        );
    }

    #[test]
    fn an_axis_ends_at_or_above_the_highest_value() {
        for value in [0.3, 0.99, 1.0, 1.2, 4.3, 7.0, 19.0, 101.0] {
            let top = ceiling(value);
            assert!(top >= value && top <= 1.7 * value, "{value}: {top}");
        }
    }
}
