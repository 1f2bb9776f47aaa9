//! Lists of names with what each is, in 80 columns.

/// The widest line.
const WIDTH: usize = 80;

/// Groups of names under headings; what a name means is wrapped beside it.
pub fn render(groups: &[(&str, Vec<(String, String)>)]) -> String {
    let names = groups.iter().flat_map(|(_, lines)| lines).map(|(name, _)| name.chars().count());
    let indent = names.max().unwrap_or(0) + 4;
    let mut text = String::new();
    for (heading, lines) in groups.iter().filter(|(_, lines)| !lines.is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &format!("{heading}:\n");
        for (name, meaning) in lines {
            let mut line = format!("  {name:<width$}", width = indent - 2);
            let mut empty = true;
            for word in meaning.split_whitespace() {
                if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
                    text += &line;
                    text.push('\n');
                    line = " ".repeat(indent);
                    empty = true;
                }
                if !empty {
                    line.push(' ');
                }
                line += word;
                empty = false;
            }
            text += line.trim_end();
            text.push('\n');
        }
    }
    text
}

/// Lines of at most 80 columns.
pub fn wrap(text: &str) -> String {
    let mut wrapped = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        match column {
            0 => {}
            _ if column + 1 + width > WIDTH => {
                wrapped.push('\n');
                column = 0;
            }
            _ => {
                wrapped.push(' ');
                column += 1;
            }
        }
        wrapped += word;
        column += width;
    }
    wrapped + "\n"
}

#[cfg(test)]
mod tests {
    #[test]
    fn long_meanings_are_wrapped_beside_their_names() {
        let long = "word ".repeat(30);
        let groups = [
            ("First", vec![("a".to_owned(), "short".to_owned()), ("bcd".to_owned(), long)]),
            ("None", Vec::new()),
        ];
        let text = super::render(&groups);
        assert!(text.starts_with("First:\n  a    short\n  bcd  word word"), "{text}");
        assert!(text.contains("\n       word"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains("None"), "{text}");
        let text = super::wrap(&"word ".repeat(40));
        assert_eq!(
            text.lines().map(|line| line.split(' ').count()).collect::<Vec<_>>(),
            [16, 16, 8]
        );
    }
}
