//! Percent-encoding (RFC 3986) of UTF-8 text.

/// Bytes of the percent-encoded character that the text begins with; 1 if it is none.
pub(super) fn encoded_char(bytes: &[u8]) -> usize {
    // The first triplet tells how many belong together.
    let triplet = |index: usize| match bytes.get(3 * index..3 * index + 3) {
        Some([b'%', high, low]) => Some(16 * hex(*high)? + hex(*low)?),
        _ => None,
    };
    let length = match triplet(0) {
        None => return 1,
        Some(0xC2..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF4) => 4,
        Some(_) => 1,
    };
    let whole: Option<Vec<u8>> = (0..length).map(triplet).collect();
    // What is no character is no value either; wherever it is cut, decoding says so.
    if whole.is_some_and(|whole| std::str::from_utf8(&whole).is_ok()) { 3 * length } else { 3 }
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Percent-decodes; `None` if it is broken or not UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        out.push(16 * hex(bytes.next()?)? + hex(bytes.next()?)?);
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding() {
        assert_eq!(decode("a%20%C3%A3+b").as_deref(), Some("a ã+b"));
        for broken in ["%", "%2", "%zz", "%+1", "%C3", "%ff", "%é"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }

    #[test]
    fn characters_are_kept_whole() {
        let cases = [("%20x", 3), ("%C3%A3%20", 6), ("%F0%9F%8E%89", 12), ("%C3%20", 3), ("%E2%98", 3), ("%zz", 1)];
        for (text, length) in cases {
            assert_eq!(encoded_char(text.as_bytes()), length, "{text}");
        }
    }
}
