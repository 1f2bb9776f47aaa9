"""Line charts as SVG, for what the benchmarks measure: light and dark, in colours that everyone can
tell apart, and with dashes for those who print in black and white."""

import math

WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 220, 64, 44, 74
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]
DASHES = ["", "7 3", "2 3", "9 3 2 3"]
STYLE = """<style>
text { fill: #222; font: 12px sans-serif } .title { font-weight: bold } .grid { stroke: #ccc }
.paper { fill: #fff }
@media (prefers-color-scheme: dark) {
text { fill: #ddd } .grid { stroke: #444 } .paper { fill: #16181c }
}
</style>"""


class Axis:
    """From low to high; logarithmic ones are given as powers of ten. `named` writes a tick."""

    def __init__(self, low, high, ticks, named, logarithmic=False):
        self.low, self.high, self.ticks, self.named = low, high, ticks, named
        self.logarithmic = logarithmic

    @staticmethod
    def powers(values, named, whole=False):
        """Logarithmic, with a tick for every power of ten."""
        low, high = (math.log10(bound(values)) for bound in (min, max))
        if whole:
            low, high = math.floor(low), math.ceil(high)
        ticks = [10**power for power in range(math.ceil(low), math.floor(high) + 1)]
        return Axis(low, high, ticks, named, logarithmic=True)

    def share(self, value):
        """Where a value lies, from 0 to 1."""
        value = math.log10(value) if self.logarithmic else value
        return (value - self.low) / (self.high - self.low)


def count(value):
    """A round number of things: 10, 100, 1,000, then powers of ten."""
    return f"{value:,}" if value < 10_000 else "10" + "⁰¹²³⁴⁵⁶⁷⁸⁹"[round(math.log10(value))]


def panel(left, top, title, x_name, x, y, lines):
    """One chart. `lines` maps a style (0, 1, ...) to its points."""
    place_x = lambda value: left + WIDTH * x.share(value)
    place_y = lambda value: top + HEIGHT * (1 - y.share(value))
    text = [f'<text class="title" x="{left}" y="{top - 14}">{title}</text>']
    for tick in x.ticks:
        at = place_x(tick)
        text.append(f'<path class="grid" d="M{at:.1f} {top}v{HEIGHT}"/>')
        text.append(
            f'<text x="{at:.1f}" y="{top + HEIGHT + 16}" text-anchor="middle">{x.named(tick)}</text>'
        )
    for tick in y.ticks:
        at = place_y(tick)
        text.append(f'<path class="grid" d="M{left} {at:.1f}h{WIDTH}"/>')
        text.append(
            f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{y.named(tick)}</text>'
        )
    text.append(
        f'<text x="{left + WIDTH}" y="{top + HEIGHT + 32}" text-anchor="end">{x_name}</text>'
    )
    for style, points in lines.items():
        way = " ".join(f"{place_x(at):.1f},{place_y(value):.1f}" for at, value in sorted(points))
        text.append(f'<polyline points="{way}" fill="none" {stroke(style)}/>')
        for at, value in points:
            text.append(
                f'<circle cx="{place_x(at):.1f}" cy="{place_y(value):.1f}" r="3" '
                f'fill="{COLOURS[style]}"/>'
            )
    return text


def legend(left, top, names):
    """One line of text for every style."""
    text = []
    for style, name in names.items():
        at = top + 18 * style
        text.append(f'<path d="M{left} {at - 4}h30" {stroke(style)}/>')
        text.append(f'<text x="{left + 38}" y="{at}">{name}</text>')
    return text


def stroke(style):
    return f'stroke="{COLOURS[style]}" stroke-width="2" stroke-dasharray="{DASHES[style]}"'


def picture(width, height, parts):
    """The whole file."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">'
    return "\n".join([head, STYLE, '<rect class="paper" width="100%" height="100%"/>', *parts, "</svg>", ""])
