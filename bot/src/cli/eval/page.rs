//! A page with figures and curves, in one self-contained file.

use std::fmt::Write as _;

use anyhow::Context as _;

pub struct EvalPage {
    pub title: &'static str,
    pub figures: Vec<(String, String)>,
    pub curves: Vec<Curve>,
    /// Header and rows.
    pub table: Option<(Vec<String>, Vec<Vec<String>>)>,
}

/// Points between 0 and 1.
pub struct Curve {
    pub title: &'static str,
    pub x: &'static str,
    pub y: &'static str,
    pub points: Vec<(f64, f64)>,
    /// Draws the line on which both values are equal.
    pub diagonal: bool,
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222;background:#fff}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181a1b}}\
dl{display:flex;flex-wrap:wrap;gap:1rem 2.5rem}dt{font-size:.85rem;opacity:.7}dd{margin:0;font-size:1.6rem}\
figure{display:inline-block;margin:0 2rem 2rem 0;vertical-align:top}figcaption{font-weight:600}\
svg{width:18rem;height:18rem;overflow:visible}svg text{font-size:4px;fill:currentColor}\
path{fill:none;stroke:#2563eb;stroke-width:1}.grid{stroke:currentColor;opacity:.25;stroke-width:.4}\
table{border-collapse:collapse}td,th{padding:.25rem .8rem;text-align:right;border-bottom:1px solid #8884}\
td:first-child,th:first-child{text-align:left}";

/// More points would not change how a curve looks.
const POINTS_MAX: usize = 600;

impl EvalPage {
    pub fn write(&self, path: &str) -> anyhow::Result<()> {
        std::fs::write(path, self.html()).with_context(|| format!("cannot write {path}"))
    }

    fn html(&self) -> String {
        let mut html = format!(
            "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{0}</title>\
<meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style>\n<h1>{0}</h1>\n<dl>",
            escaped(self.title)
        );
        for (name, value) in &self.figures {
            let _ = write!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value));
        }
        html.push_str("</dl>\n");
        self.curves.iter().for_each(|curve| html.push_str(&curve.figure()));
        if let Some((head, rows)) = &self.table {
            let cells = |cells: &[String], tag: &str| {
                cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect::<String>()
            };
            let _ = write!(html, "<table><tr>{}</tr>", cells(head, "th"));
            rows.iter().for_each(|row| {
                let _ = write!(html, "<tr>{}</tr>", cells(row, "td"));
            });
            html.push_str("</table>\n");
        }
        html
    }
}

impl Curve {
    fn figure(&self) -> String {
        let every = self.points.len().div_ceil(POINTS_MAX).max(1);
        let kept =
            self.points.iter().enumerate().filter(|(index, _)| index % every == 0 || index + 1 == self.points.len());
        let mut path = String::new();
        for (_, (x, y)) in kept {
            let step = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{step}{:.2} {:.2}", 100.0 * x, 100.0 - 100.0 * y);
        }
        let diagonal = if self.diagonal { "M0 100L100 0" } else { "" };
        format!(
            "<figure><figcaption>{}</figcaption><svg viewBox=\"-12 -4 116 116\" role=\"img\" aria-label=\"{0}\">\
<path class=\"grid\" d=\"M0 0V100H100M0 50H100M50 0V100{diagonal}\"/><path d=\"{path}\"/>\
<text x=\"50\" y=\"109\" text-anchor=\"middle\">{}</text>\
<text x=\"-6\" y=\"50\" text-anchor=\"middle\" transform=\"rotate(-90 -6 50)\">{}</text></svg></figure>\n",
            escaped(self.title),
            escaped(self.x),
            escaped(self.y)
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_its_curves_and_no_markup_of_others() {
        let page = EvalPage {
            title: "T",
            figures: vec![("<b>".into(), "1".into())],
            curves: vec![Curve { title: "c", x: "x", y: "y", points: vec![(0.0, 0.0), (1.0, 0.5)], diagonal: true }],
            table: Some((vec!["h".into()], vec![vec!["<i>".into()]])),
        };
        let html = page.html();
        assert!(html.contains("M0.00 100.00L100.00 50.00") && html.contains("M0 100L100 0"), "{html}");
        assert!(html.contains("&lt;b&gt;") && html.contains("<td>&lt;i&gt;</td>") && !html.contains("<b>"), "{html}");
    }
}
