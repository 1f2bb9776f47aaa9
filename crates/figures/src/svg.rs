//! A small SVG writer. Colours are written for light backgrounds; a style sheet inside the file
//! changes them where the reader prefers dark.

use std::fmt::Write;

/// What things are drawn with: a colour for light, one for dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Text,
    Quiet,
    Rule,
    Back,
    Panel,
    Blue,
    Orange,
    Green,
    Vermilion,
    Purple,
    Sky,
    Pale,
}

use Ink::*;

impl Ink {
    const ALL: [Ink; 12] =
        [Text, Quiet, Rule, Back, Panel, Blue, Orange, Green, Vermilion, Purple, Sky, Pale];

    /// What it is called.
    pub fn name(self) -> &'static str {
        self.colours().0
    }

    /// The name of its class, the colour in the light, the colour in the dark.
    fn colours(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Text => ("text", "#1b1f24", "#e6eaef"),
            Quiet => ("quiet", "#57606a", "#a0a9b4"),
            Rule => ("rule", "#d0d7de", "#3a434d"),
            Back => ("back", "#ffffff", "#14181d"),
            Panel => ("panel", "#f0f2f5", "#232a32"),
            Blue => ("blue", "#0072b2", "#56b4e9"),
            Orange => ("orange", "#e69f00", "#f0b429"),
            Green => ("green", "#009e73", "#45d1a5"),
            Vermilion => ("vermilion", "#d55e00", "#ff9152"),
            Purple => ("purple", "#a65486", "#e7a0cb"),
            Sky => ("sky", "#56b4e9", "#2a78b0"),
            Pale => ("pale", "#cfe8f7", "#17435e"),
        }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Stroke {
    pub ink: Ink,
    pub width: f64,
    /// As SVG has it: lengths of dashes and gaps; empty for none.
    pub dashes: &'static str,
}

impl Stroke {
    pub fn new(ink: Ink, width: f64) -> Stroke {
        Stroke { ink, width, dashes: "" }
    }

    pub fn dashed(ink: Ink, width: f64, dashes: &'static str) -> Stroke {
        Stroke { ink, width, dashes }
    }

    fn attributes(&self) -> String {
        let (class, colour, _) = self.ink.colours();
        let dashes = match self.dashes {
            "" => String::new(),
            dashes => format!(" stroke-dasharray=\"{dashes}\""),
        };
        format!("class=\"s-{class}\" stroke=\"{colour}\" stroke-width=\"{}\"{dashes}", self.width)
    }
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is written.
#[derive(Clone, Copy, Debug)]
pub struct Font {
    pub size: f64,
    pub bold: bool,
    pub ink: Ink,
    pub anchor: Anchor,
}

impl Font {
    pub fn new(size: f64, ink: Ink, anchor: Anchor) -> Font {
        Font { size, bold: false, ink, anchor }
    }

    pub fn bold(self) -> Font {
        Font { bold: true, ..self }
    }

    /// About how wide a text is.
    pub fn width(&self, text: &str) -> f64 {
        self.size * 0.6 * text.chars().count() as f64
    }
}

/// A picture under way.
#[derive(Debug)]
pub struct Svg {
    pub width: f64,
    pub height: f64,
    body: String,
}

impl Svg {
    pub fn new(width: f64, height: f64) -> Svg {
        let mut svg = Svg { width, height, body: String::new() };
        svg.rect((0.0, 0.0), (width, height), Ink::Back);
        svg
    }

    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), ink: Ink) {
        let (class, colour, _) = ink.colours();
        let (x, y, width, height) = (short(x), short(y), short(width), short(height));
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" class=\"f-{class}\" \
             fill=\"{colour}\"/>"
        );
    }

    pub fn line(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        let path = path(points);
        let _ = writeln!(
            self.body,
            "<path d=\"{path}\" fill=\"none\" stroke-linejoin=\"round\" {}/>",
            stroke.attributes()
        );
    }

    pub fn area(&mut self, points: &[(f64, f64)], ink: Ink) {
        let (class, colour, _) = ink.colours();
        let path = path(points);
        let _ = writeln!(self.body, "<path d=\"{path}Z\" class=\"f-{class}\" fill=\"{colour}\"/>");
    }

    pub fn circle(&mut self, (x, y): (f64, f64), r: f64, fill: Ink, stroke: Stroke) {
        let (fill_class, fill_colour, _) = fill.colours();
        let attributes = stroke.attributes();
        let attributes = attributes.replacen("class=\"", &format!("class=\"f-{fill_class} "), 1);
        let (x, y, r) = (short(x), short(y), short(r));
        let _ = writeln!(
            self.body,
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill_colour}\" {attributes}/>"
        );
    }

    pub fn text(&mut self, at: (f64, f64), text: &str, font: Font) {
        self.write_text(&format!("x=\"{}\" y=\"{}\"", short(at.0), short(at.1)), text, font);
    }

    /// Reads from bottom to top.
    pub fn text_upwards(&mut self, at: (f64, f64), text: &str, font: Font) {
        let (x, y) = (short(at.0), short(at.1));
        self.write_text(&format!("transform=\"translate({x} {y}) rotate(-90)\""), text, font);
    }

    fn write_text(&mut self, place: &str, text: &str, font: Font) {
        let (class, colour, _) = font.ink.colours();
        let anchor = match font.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if font.bold { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            self.body,
            "<text {place} font-size=\"{}\"{anchor}{weight} class=\"f-{class}\" \
             fill=\"{colour}\">{}</text>",
            short(font.size),
            escape(text)
        );
    }

    /// The whole file. `title` is for those who cannot see it.
    pub fn finish(self, title: &str) -> String {
        let (width, height) = (short(self.width), short(self.height));
        let mut dark = String::new();
        for ink in Ink::ALL {
            let (class, _, colour) = ink.colours();
            let _ = write!(dark, ".f-{class}{{fill:{colour}}}.s-{class}{{stroke:{colour}}}");
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" font-family=\"DejaVu Sans, \
             Verdana, sans-serif\">\n<title>{}</title>\n<style>@media (prefers-color-scheme: \
             dark){{{dark}}}</style>\n{}</svg>\n",
            escape(title),
            self.body
        )
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        let _ = write!(path, "{}{} {}", if index == 0 { 'M' } else { 'L' }, short(x), short(y));
    }
    path
}

/// A number with at most two decimals.
fn short(value: f64) -> f64 {
    let value = (value * 100.0).round() / 100.0;
    // There is no need for a negative nought.
    if value == 0.0 { 0.0 } else { value }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
