//! One chart as a picture of pixels, for places that take no SVG. Its texts have the fonts of the
//! system that draws it.

use anyhow::{Context, Result, bail, ensure};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Family, Query};
use resvg::usvg::{self, FontResolver, Node, Options, Tree};

use super::chart::Scene;
use super::{Report, ReportInfo, Style};
use crate::compare::Comparison;

pub struct Png;

static INFO: ReportInfo = ReportInfo {
    name: "png",
    layouts: true,
    sections: false,
    summary: "the same picture in pixels",
};

/// Pixels for each unit of the drawing, as fine screens have.
const FINE: f32 = 2.0;
/// Most pixels of a picture, which takes four bytes each.
const MOST: f32 = 40e6;
/// Families for texts without another font, the first that is there.
const FAMILIES: [&str; 7] =
    ["Noto Sans", "DejaVu Sans", "Liberation Sans", "Segoe UI", "Arial", "Helvetica", "Roboto"];

/// Families for Japanese, likewise; others of a system may be of another style.
const JAPANESE: [&str; 10] = [
    "Noto Sans CJK JP",
    "Noto Sans JP",
    "Hiragino Sans",
    "Yu Gothic",
    "Meiryo",
    "IPAexGothic",
    "IPAGothic",
    "IPAPGothic",
    "VL Gothic",
    "TakaoGothic",
];
/// The first letter that no font of the west has.
const EASTERN: char = '\u{2e80}';

impl Report for Png {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, style: &Style) -> Result<Vec<u8>> {
        let scene = Scene { comparison, words: &style.words, layout: style.layout };
        pixels(&style.chart.picture(&scene)?.as_file())
    }
}

/// Draws it with the system's fonts.
fn pixels(svg: &str) -> Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    let names: Vec<String> =
        fonts.faces().filter_map(|face| Some(face.families.first()?.0.clone())).collect();
    let first = FAMILIES.iter().find(|family| names.iter().any(|name| name == *family));
    let family = first.map(|family| (*family).to_owned()).or_else(|| names.first().cloned());
    let family = family.context(
        "`--format png` needs a font, and this system has none: install one (on Debian \
         fonts-dejavu-core, for Japanese fonts-noto-cjk), or use `--format svg`",
    )?;
    fonts.set_sans_serif_family(family);
    let others = FontResolver::default_fallback_selector();
    options.font_resolver.select_fallback = Box::new(move |letter, used, fonts| {
        let of = |name: &&str| {
            let families = &[Family::Name(name)];
            fonts.query(&Query { families, ..Query::default() }).filter(|id| !used.contains(id))
        };
        let eastern = letter >= EASTERN;
        let first = JAPANESE.iter().filter(|_| eastern).find_map(of);
        first.or_else(|| others(letter, used, fonts))
    });
    let tree = Tree::from_str(svg, &options).context("reading the own drawing")?;
    if let Some(letter) = without_glyph(tree.root()) {
        bail!(
            "no font of this system has the character `{letter}`: install one that has it (for \
             Japanese fonts-noto-cjk), or use `--format svg`"
        );
    }
    let size = tree.size();
    let (width, height) = (size.width(), size.height());
    let fine = FINE.min((MOST / (width * height)).sqrt());
    ensure!(fine > 0.25, "this picture is too large for `--format png`: use `--format svg`");
    let [across, down] = [width, height].map(|length| (length * fine).ceil() as u32);
    let mut map = Pixmap::new(across, down).context("this picture is too large")?;
    resvg::render(&tree, Transform::from_scale(fine, fine), &mut map.as_mut());
    map.encode_png().context("encoding the picture")
}

/// A character of the texts for which there is no glyph.
fn without_glyph(group: &usvg::Group) -> Option<String> {
    group.children().iter().find_map(|node| match node {
        Node::Group(group) => without_glyph(group),
        Node::Text(text) => {
            let glyphs = text.layouted().iter().flat_map(|span| &span.positioned_glyphs);
            let mut glyphs = glyphs.filter(|glyph| glyph.id.0 == 0);
            glyphs.next().map(|glyph| glyph.text.clone())
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_becomes_a_png_of_twice_its_size() {
        let drawing = |text: &str| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"30\" height=\"20\">\
                 <text x=\"1\" y=\"15\" font-family=\"sans-serif\">{text}</text></svg>"
            )
        };
        let made = match pixels(&drawing("a")) {
            Ok(made) => made,
            // A machine without fonts says what to install.
            Err(error) => return assert!(error.to_string().contains("install"), "{error}"),
        };
        assert_eq!(&made[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(made[16..24], [0, 0, 0, 60, 0, 0, 0, 40]);
        // No font has a character of the private planes.
        let missing = pixels(&drawing("\u{10fffd}")).unwrap_err().to_string();
        assert!(missing.contains("install one that has it"), "{missing}");
    }
}
