//! HTML, a piece at a time. Text is always escaped.

use pgn_lab::collection::Table;
use serde::Serialize;

use crate::{Error, Result};

/// The page's styles, then those that only reports need.
const STYLES: [&str; 2] =
    [include_str!("../../assets/page.css"), include_str!("../../assets/report.css")];
const SCRIPT: &str = include_str!("../../assets/report.js");
const LICENCES: &str = include_str!("../../assets/third-party.txt");

/// A document under way.
#[derive(Debug, Default)]
pub struct Html {
    body: String,
}

impl Html {
    pub fn new() -> Html {
        Html::default()
    }

    /// Markup as it is.
    pub fn raw(&mut self, markup: &str) {
        self.body += markup;
        self.body.push('\n');
    }

    /// An element with text in it, in which names in backticks are set as code.
    pub fn element(&mut self, tag: &str, text: &str) {
        self.raw(&format!("<{tag}>{}</{tag}>", marked(text)));
    }

    /// A heading that can be linked to.
    pub fn heading(&mut self, id: &str, text: &str) {
        self.raw(&format!("<h2 id=\"{id}\">{}</h2>", escape(text)));
    }

    /// A block of text that keeps its lines.
    pub fn pre(&mut self, text: &str) {
        self.raw(&format!("<pre tabindex=\"0\">{}</pre>", escape(text)));
    }

    pub fn table(&mut self, table: &Table) {
        self.raw(&format!(
            "<div class=\"scroll\" tabindex=\"0\"><table class=\"table\"><caption>{}</caption>",
            escape(&table.title)
        ));
        // The paper's numbers are set apart from ours.
        let class = |column: usize| match table.header.get(column).map(String::as_str) {
            Some("paper") => " class=\"theirs\"",
            _ => "",
        };
        let mut head = String::from("<thead><tr><td></td>");
        for (column, name) in table.header.iter().enumerate().skip(1) {
            head += &format!("<th scope=\"col\"{}>{}</th>", class(column), marked(name));
        }
        self.raw(&(head + "</tr></thead><tbody>"));
        for row in &table.rows {
            let mut line = String::from("<tr>");
            for (column, cell) in row.iter().enumerate() {
                line += &match column {
                    0 => format!("<th scope=\"row\">{}</th>", marked(cell)),
                    _ => format!("<td{}>{}</td>", class(column), marked(cell)),
                };
            }
            self.raw(&(line + "</tr>"));
        }
        self.raw("</tbody></table></div>");
    }

    /// The whole document, with data for the script.
    pub fn finish(self, title: &str, data: &impl Serialize) -> Result<String> {
        let data = serde_json::to_string(data).map_err(|error| {
            Error::Report(format!("its data cannot be written as JSON ({error})"))
        })?;
        // Nothing in the data may end the element it is in.
        let (data, styles) = (data.replace('<', "\\u003c"), STYLES.concat());
        Ok(format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
             name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta \
             name=\"color-scheme\" content=\"light dark\">\n<meta \
             http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
             'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" \
             href=\"data:,\">\n<title>{}</title>\n<style>\n{styles}</style>\n</head>\n<body>\n\
             <main class=\"report\" id=\"main\">\n{}<details><summary>Licences of what is built \
             into this file</summary><pre>{}</pre></details>\n</main>\n<div id=\"live\" \
             class=\"unseen\" aria-live=\"polite\"></div>\n<script type=\"application/json\" \
             id=\"data\">{data}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            escape(title),
            self.body,
            escape(LICENCES)
        ))
    }
}

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Escaped, with what stands between backticks as code.
fn marked(text: &str) -> String {
    let escaped = escape(text);
    let parts: Vec<&str> = escaped.split('`').collect();
    // A backtick without its partner stays what it is.
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let part = |(index, part): (usize, &&str)| match index % 2 {
        0 => (*part).to_owned(),
        _ => format!("<code>{part}</code>"),
    };
    parts.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_its_element() {
        let mut html = Html::new();
        html.element("p", "<script>alert(1)</script> & `pgn<b>`");
        html.pre("</pre><b>");
        let table = Table {
            title: "\"><i>".to_owned(),
            header: vec![String::new(), "paper".to_owned()],
            rows: vec![vec!["`x`".to_owned(), "</table>".to_owned()]],
        };
        html.table(&table);
        let text = html.finish("</title>", &["</script><b>"]).unwrap();
        let text = text.split("<main").nth(1).unwrap().split("<script>\n").next().unwrap();
        for forbidden in ["<script>alert", "<b>", "<i>", "</table></td>", "\"</script>"] {
            assert!(!text.contains(forbidden), "{forbidden} in {text}");
        }
        assert!(text.contains("<code>pgn&lt;b&gt;</code>"));
        assert!(text.contains("<td class=\"theirs\">&lt;/table&gt;</td>"));
        assert_eq!(marked("one ` only"), "one ` only");
    }
}
