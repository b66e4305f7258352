//! Arranges words in lines, with only the white space that a reader needs.

/// The text without control characters.
pub fn readable(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let kept: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    kept.trim().to_owned()
}

#[derive(Default)]
pub struct LineWriter {
    text: String,
    /// Line breaks and a space that are pending before the next word.
    breaks: usize,
    has_space: bool,
    /// Whether the line has only its mark (`- `, `# `) so far.
    is_marked: bool,
}

impl LineWriter {
    pub fn len(&self) -> usize {
        self.text.len()
    }

    /// What was written after this length.
    pub fn since(&self, len: usize) -> &str {
        &self.text[len.min(self.text.len())..]
    }

    /// Writes words; each run of white space becomes one space.
    pub fn words(&mut self, words: &str) {
        for c in words.chars() {
            match c {
                c if c.is_whitespace() => self.has_space = true,
                c if c.is_control() => {}
                c => {
                    self.begin();
                    self.text.push(c);
                }
            }
        }
    }

    /// Writes words and keeps their spaces and lines.
    pub fn preformatted(&mut self, words: &str) {
        for c in words.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')) {
            match c {
                '\n' => self.line_break(self.breaks + 1),
                c => {
                    self.begin();
                    self.text.push(c);
                }
            }
        }
    }

    /// At least this many line breaks before the next word; two leave an empty line.
    pub fn line_break(&mut self, breaks: usize) {
        // A heading in a list item stays on its line.
        if !self.is_marked {
            self.breaks = self.breaks.max(breaks).min(2);
        }
    }

    /// Allows no empty line before the next word.
    pub fn no_empty_line(&mut self) {
        self.breaks = self.breaks.min(1);
    }

    /// Begins a line with a mark.
    pub fn mark(&mut self, mark: &str) {
        if !self.is_marked {
            self.breaks = self.breaks.max(1);
        }
        self.begin();
        self.text.push_str(mark);
        self.is_marked = true;
    }

    /// A mark without content does not keep the next line.
    pub fn end_mark(&mut self) {
        self.is_marked = false;
    }

    /// Separates a cell of a table from the one before it.
    pub fn cell(&mut self) {
        if self.breaks == 0 && !self.text.is_empty() {
            self.text.push_str(" |");
            self.has_space = true;
        }
    }

    pub fn finish(self) -> String {
        let lines: Vec<&str> = self.text.lines().map(str::trim_end).collect();
        lines.join("\n").trim().to_owned()
    }

    fn begin(&mut self) {
        if self.breaks > 0 && !self.text.is_empty() {
            self.text.extend(std::iter::repeat_n('\n', self.breaks));
        } else if self.has_space && !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
        (self.breaks, self.has_space, self.is_marked) = (0, false, false);
    }
}
