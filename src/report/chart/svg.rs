//! A thin layer over SVG: shapes and texts with classes, from which the colours come. In a page its
//! style sheet has the classes, in light and dark; a file brings its own, with fixed colours.

use std::collections::BTreeMap;
use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

/// Empty room round a picture that is a file.
const EDGE: f64 = 14.0;

/// Shapes on a plane in pixels, from its upper left corner.
#[derive(Default)]
pub struct Svg {
    body: String,
}

/// A finished picture with what it says in words.
pub struct Picture {
    pub width: f64,
    pub height: f64,
    pub title: String,
    pub description: String,
    pub svg: Svg,
}

/// Where a text lies at its point.
#[derive(Clone, Copy, PartialEq)]
pub enum Side {
    Start,
    Middle,
    End,
}

/// The width of a text of 12 pixels in height, generously: fonts differ.
pub fn width(text: &str) -> f64 {
    let wide = text.chars().filter(|letter| *letter as u32 >= 0x2e80).count() as f64;
    text.width() as f64 * 6.6 - wide * 1.2
}

/// The text cut to that width, with `…` at its end.
pub fn fit(text: &str, most: f64) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        kept.push(letter);
        if width(&kept) + 8.0 > most {
            kept.pop();
            break;
        }
    }
    kept + "…"
}

/// A text inside an element or an attribute.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // XML has no such characters.
            letter if letter.is_control() && !"\n\t".contains(letter) => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

/// A number with one decimal at most: a tenth of a pixel is not seen.
fn short(number: f64) -> f64 {
    let number = if number.is_finite() { number } else { 0.0 };
    (number * 10.0).round() / 10.0
}

impl Svg {
    pub fn text(&mut self, (x, y): (f64, f64), side: Side, class: &str, text: &str) {
        let side = match side {
            Side::Start => "",
            Side::Middle => "middle",
            Side::End => "end",
        };
        let class = format!("{class} {side}");
        let class = class.trim();
        let class = if class.is_empty() { "" } else { &format!(" class=\"{class}\"") };
        let (x, y, text) = (short(x), short(y), escaped(text));
        self.add(&format!("<text x=\"{x}\" y=\"{y}\"{class}>{text}</text>"));
    }

    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(short);
        let to = match (x1 == x2, y1 == y2) {
            (_, true) => format!("H{x2}"),
            (true, _) => format!("V{y2}"),
            _ => format!("L{x2} {y2}"),
        };
        self.add(&format!("<path d=\"M{x1} {y1}{to}\" class=\"{class}\"/>"));
    }

    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str) {
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(short);
        let data = format!("M{x} {y}h{width}v{height}h-{width}z");
        self.add(&format!("<path d=\"{data}\" class=\"{class}\"/>"));
    }

    pub fn circle(&mut self, (x, y): (f64, f64), radius: f64, class: &str) {
        let [x, y, radius] = [x, y, radius].map(short);
        self.add(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" class=\"{class}\"/>"));
    }

    /// A square on its corner, `size` from its centre to each corner.
    pub fn diamond(&mut self, (x, y): (f64, f64), size: f64, class: &str) {
        let (x, y, size) = (short(x - size), short(y), short(size));
        let data = format!("M{x} {y}l{size}-{size} {size} {size}-{size} {size}z");
        self.add(&format!("<path d=\"{data}\" class=\"{class}\"/>"));
    }

    /// A line through the points.
    pub fn path(&mut self, points: &[(f64, f64)], class: &str) {
        let mut data = String::new();
        for (at, (x, y)) in points.iter().enumerate() {
            let letter = if at == 0 { 'M' } else { 'L' };
            let _ = write!(data, "{letter}{} {}", short(*x), short(*y));
        }
        self.add(&format!("<path d=\"{data}\" class=\"{class}\"/>"));
    }

    /// A dot at each point, as one element: on whole pixels, each from the one before, as there may
    /// be many.
    pub fn dots(&mut self, points: &[(f64, f64)], class: &str) {
        let mut data = String::new();
        let mut last = (0, 0);
        for (x, y) in points {
            let own = (short(*x).round() as i64, short(*y).round() as i64);
            let (x, y) = (own.0 - last.0, own.1 - last.1);
            // A minus sign parts numbers as well as a space does.
            let gap = if y < 0 { "" } else { " " };
            let _ = write!(data, "m{x}{gap}{y}h0");
            last = own;
        }
        self.add(&format!("<path d=\"{data}\" class=\"dots {class}\"/>"));
    }

    /// An upright stroke of that height on each place of a base line, as one element; of those that
    /// fall on one pixel only the highest.
    pub fn strokes(&mut self, places: &[(f64, f64)], base: f64, class: &str) {
        let mut highest = BTreeMap::new();
        for (x, height) in places {
            let (x, height) = (short(*x).round() as i64, short(*height));
            let known = highest.entry(x).or_insert(height);
            *known = known.max(height);
        }
        let mut data = String::new();
        for (x, height) in highest {
            let _ = write!(data, "M{x} {}v-{height}", short(base));
        }
        self.add(&format!("<path d=\"{data}\" class=\"{class}\"/>"));
    }

    /// What `draw` draws, with a text that is shown when the pointer is on it.
    pub fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Svg)) {
        self.add(&format!("<g><title>{}</title>", escaped(title)));
        draw(self);
        self.add("</g>");
    }

    fn add(&mut self, element: &str) {
        self.body.push_str(element);
    }
}

impl Picture {
    /// The picture as an element of a page that has the classes. `id` is unique in the page.
    pub fn in_page(&self, id: &str) -> String {
        let Picture { width, height, title, description, svg } = self;
        let (width, height) = (short(*width), short(*height));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" \
             aria-labelledby=\"{id}-t {id}-d\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\"><title id=\"{id}-t\">{}</title>\
             <desc id=\"{id}-d\">{}</desc>{}</svg>",
            escaped(title),
            escaped(description),
            svg.body
        )
    }

    /// The picture as a file of its own: light, whatever shows it.
    pub fn as_file(&self) -> String {
        let Picture { width, height, title, description, svg } = self;
        let (width, height) = (short(width + 2.0 * EDGE), short(height + 2.0 * EDGE));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" \
             viewBox=\"-{EDGE} -{EDGE} {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\"><title>{}</title><desc>{}</desc>\
             <style>{STYLE}</style><rect x=\"-{EDGE}\" y=\"-{EDGE}\" width=\"{width}\" \
             height=\"{height}\" class=\"paper\"/>{}</svg>\n",
            escaped(title),
            escaped(description),
            svg.body
        )
    }

    /// The pictures below each other, as one.
    pub fn stacked(pictures: Vec<Picture>) -> Option<Picture> {
        let mut all = pictures.into_iter();
        let mut stack = all.next()?;
        for Picture { width, height, title, description, svg } in all {
            let at = short(stack.height + 12.0);
            let body = format!("<g transform=\"translate(0 {at})\">{}</g>", svg.body);
            stack.svg.add(&body);
            stack.height = at + height;
            stack.width = stack.width.max(width);
            if !stack.title.contains(&title) {
                stack.title.push_str(&format!("; {title}"));
            }
            stack.description.push_str(&format!(" {description}"));
        }
        Some(stack)
    }
}

/// The classes of a file. A page has the same ones in its own style sheet.
const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#1b1f24}\
    .paper{fill:#fff}.big{font-size:15px;font-weight:bold}.bold{font-weight:bold}.dim{fill:#57606a}\
    .small{font-size:11px}.grid{stroke:#d5dae0}.one{stroke:#57606a;stroke-dasharray:3 3}\
    .axis{stroke:#8b949e}.load{stroke:#8b949e}.whisker{stroke:#1b1f24;stroke-width:1.5}\
    .band{fill:#eef1f4}.slower{color:#b3400a}.faster{color:#0b6e63}\
    .same{color:#57606a}.open{color:#7a6200}.none{color:#57606a}\
    .fill{fill:currentColor}.line{stroke:currentColor;fill:none;stroke-width:2}\
    .thin{stroke:currentColor;fill:none;stroke-width:1}.hollow{stroke:currentColor;fill:#fff;\
    stroke-width:1.5}.ink{fill:currentColor}\
    .middle{text-anchor:middle}.end{text-anchor:end}\
    .dots{stroke:currentColor;stroke-width:3.4;stroke-linecap:round;fill:none}\
    .cell-slower{fill:#fbd9c6}.cell-much{fill:#f3a983}.cell-faster{fill:#bfe8e1}\
    .cell-same{fill:#e7eaee}.cell-open{fill:#f7eec7}.cell-none{fill:#f6f7f8}.cell-ref{fill:#fff}\
    .s0{color:#0b5cad}.s1{color:#b3400a}.s2{color:#0b6e63}.s3{color:#9c1f5c}.s4{color:#6430c4}\
    .s5{color:#57606a}.s6{color:#7a6200}.s7{color:#0a6c86}.s8{color:#b3163a}.s9{color:#4a6d0c}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_begin_no_element_and_end_no_attribute() {
        assert_eq!(escaped("<a b=\"c\">&'\u{1b}"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\u{fffd}");
    }

    /// A class without a colour is black, which nobody can read.
    #[test]
    fn every_class_of_a_cell_has_a_colour() {
        let page = include_str!("../page/page.css");
        for part in include_str!("matrix.rs").split("\"cell-").skip(1) {
            let class = part.split('"').next().unwrap();
            // Names of messages begin alike.
            if !["skipped", "failed", "not-reached"].contains(&class) {
                assert!(STYLE.contains(&format!(".cell-{class}{{fill:")), "{class}");
                assert!(page.contains(&format!(".cell-{class} {{")), "{class}");
            }
        }
    }

    #[test]
    fn a_text_that_is_too_long_is_cut() {
        assert_eq!(fit("abc", 100.0), "abc");
        let cut = fit("file.read size=4KiB dir=a-long-name", 100.0);
        assert!(cut.ends_with('…') && width(&cut) <= 102.0, "{cut}");
    }

    #[test]
    fn numbers_that_are_none_do_not_break_a_picture() {
        let mut svg = Svg::default();
        svg.line((f64::NAN, 1.0), (f64::INFINITY, 0.25), "x");
        assert!(svg.body.contains("M0 1V0.3"), "{}", svg.body);
    }
}
