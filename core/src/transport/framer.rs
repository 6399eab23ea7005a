//! Lines out of bytes (`basic/transports/stdio`): only LF ends a message.

/// Cuts a byte stream into messages of bounded length.
pub(super) struct Framer {
    line: Vec<u8>,
    max: usize,
    /// The line is over the bound and is being thrown away.
    skipping: bool,
    /// Nothing has been read yet, so a byte order mark may come.
    first: bool,
}

/// What a line is.
pub(super) enum Line<'a> {
    /// A message, without its end.
    Message(&'a [u8]),
    /// Longer than the bound; the rest of it is skipped.
    TooLong,
}

impl Framer {
    pub fn new(max: usize) -> Framer {
        Framer { line: Vec::new(), max, skipping: false, first: true }
    }

    /// Takes bytes, and hands over each line that they end.
    pub fn feed(&mut self, mut bytes: &[u8], mut f: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (head, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if self.line.is_empty() {
                emit(head, self.max, &mut self.first, &mut f);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(head);
                emit(&line, self.max, &mut self.first, &mut f);
                // The buffer is kept for the next line, unless it grew large.
                if line.capacity() <= 1 << 16 {
                    line.clear();
                    self.line = line;
                }
            }
        }
        if self.skipping || bytes.is_empty() {
            return;
        }
        // A CR and a byte order mark do not count.
        if self.line.len() + bytes.len() > self.max.saturating_add(4) {
            self.line = Vec::new();
            self.skipping = true;
            self.first = false;
            f(Line::TooLong);
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    /// The input has ended: a last line without LF is a message too.
    pub fn finish(&mut self, mut f: impl FnMut(Line<'_>)) {
        let line = std::mem::take(&mut self.line);
        if !self.skipping {
            emit(&line, self.max, &mut self.first, &mut f);
        }
    }
}

fn emit(line: &[u8], max: usize, first: &mut bool, f: &mut impl FnMut(Line<'_>)) {
    let line = if std::mem::take(first) { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > max {
        f(Line::TooLong);
    } else if !line.iter().all(u8::is_ascii_whitespace) {
        f(Line::Message(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(max: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut framer = Framer::new(max);
        let mut out = Vec::new();
        let mut note = |line: Line<'_>| {
            out.push(match line {
                Line::Message(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Line::TooLong => "<too long>".to_owned(),
            });
        };
        for chunk in chunks {
            framer.feed(chunk, &mut note);
        }
        framer.finish(&mut note);
        out
    }

    #[test]
    fn lines_end_with_lf_alone() {
        assert_eq!(
            lines(99, &[b"\xEF\xBB\xBF{}\r\n", b"\n  \n[\r]\n", b"a", b"b\nlast"]),
            ["{}", "[\r]", "ab", "last"]
        );
        assert_eq!(lines(99, &["x\u{2028}\u{85}y\n".as_bytes()]), ["x\u{2028}\u{85}y"]);
    }

    #[test]
    fn a_long_line_is_told_once_and_skipped() {
        assert_eq!(lines(4, &[b"12345\nok\n"]), ["<too long>", "ok"]);
        assert_eq!(lines(4, &[b"123456789", b"123", b"45\nok\n"]), ["<too long>", "ok"]);
        assert_eq!(lines(4, &[b"1234\r\n", b"1234567890"]), ["1234", "<too long>"]);
    }

    #[test]
    fn every_way_of_cutting_gives_the_same_lines() {
        let text = b"\xEF\xBB\xBFone\r\n\ntwo\nthree-long\nfour";
        let whole = lines(5, &[text]);
        for cut in 0..text.len() {
            assert_eq!(lines(5, &[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
        }
    }
}
