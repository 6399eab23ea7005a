//! JSON as text: the pieces that travel through the core untouched.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// What a raw value is, told by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// The kind of a raw value.
pub fn kind(raw: &str) -> Kind {
    match raw.trim_start().as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b't' | b'f') => Kind::Bool,
        Some(b'n') | None => Kind::Null,
        Some(_) => Kind::Number,
    }
}

/// The text is not an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnObject;

/// Members of an object: unescaped keys, raw values, in order. Of a repeated key the last value counts.
#[derive(Clone, Debug)]
pub struct Members<'a>(pub Vec<(Cow<'a, str>, &'a str)>);

impl<'a> Members<'a> {
    /// Takes an object apart. The text has been checked to be JSON.
    pub fn parse(raw: &'a str) -> Result<Members<'a>, NotAnObject> {
        if kind(raw) != Kind::Object {
            return Err(NotAnObject);
        }
        serde_json::from_str(raw).map_err(|_| NotAnObject)
    }

    /// Raw value of a member.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    pub(crate) fn set(&mut self, key: Cow<'a, str>, value: &'a str) {
        // Small objects are searched faster than hashed; large ones seldom repeat a key, yet must not cost the square.
        match self.0.iter_mut().find(|(name, _)| *name == key) {
            Some(member) => member.1 = value,
            None => self.0.push((key, value)),
        }
    }
}

/// Objects with more members than this are checked for repeated keys by a map.
const MANY: usize = 64;

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members(Vec::new());
                let mut places: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
                while let Some(key) = map.next_key::<&'de RawValue>()? {
                    // A key that is no Unicode text stands for itself.
                    let key = unescape(key.get()).unwrap_or(Cow::Borrowed(key.get()));
                    let value: &'de RawValue = map.next_value()?;
                    if members.0.len() < MANY {
                        members.set(key, value.get());
                        continue;
                    }
                    if places.is_empty() {
                        places = members.0.iter().enumerate().map(|(at, (key, _))| (key.to_string(), at)).collect();
                    }
                    match places.get(key.as_ref()) {
                        Some(at) => members.0[*at].1 = value.get(),
                        None => {
                            places.insert(key.to_string(), members.0.len());
                            members.0.push((key, value.get()));
                        }
                    }
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// Raw elements of an array.
pub fn elements(raw: &str) -> Option<Vec<&str>> {
    struct Elements<'a>(Vec<&'a str>);
    impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Collect;
            impl<'de> Visitor<'de> for Collect {
                type Value = Elements<'de>;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an array")
                }

                fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                    let mut elements = Vec::new();
                    while let Some(raw) = seq.next_element::<&'de RawValue>()? {
                        elements.push(raw.get());
                    }
                    Ok(Elements(elements))
                }
            }
            deserializer.deserialize_seq(Collect)
        }
    }
    serde_json::from_str::<Elements<'_>>(raw).ok().map(|elements| elements.0)
}

/// The text of a raw string; `None` if it is no string, or not Unicode text (a lone surrogate).
pub fn unescape(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(raw).ok().map(Cow::Owned)
}

/// Appends `text` as a JSON string.
pub fn write_string(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.reserve(text.len() + 2);
    out.push('"');
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0C => "\\f",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&text[start..at]);
        if escape.is_empty() {
            out.push_str("\\u00");
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        } else {
            out.push_str(escape);
        }
        start = at + 1;
    }
    out.push_str(&text[start..]);
    out.push('"');
}

/// Steps over strings: calls `f` with each run of text outside of them, and with each string, quotes included.
fn runs<'a>(raw: &'a str, mut f: impl FnMut(&'a str, bool)) {
    let bytes = raw.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let quote = memchr::memchr(b'"', &bytes[at..]).map_or(bytes.len(), |offset| at + offset);
        if quote > at {
            f(&raw[at..quote], false);
        }
        if quote == bytes.len() {
            return;
        }
        let mut end = quote + 1;
        loop {
            match memchr::memchr2(b'"', b'\\', &bytes[end.min(bytes.len())..]) {
                None => {
                    end = bytes.len();
                    break;
                }
                Some(offset) if bytes[end + offset] == b'"' => {
                    end += offset + 1;
                    break;
                }
                Some(offset) => end += offset + 2,
            }
        }
        let end = end.min(bytes.len());
        f(&raw[quote..end], true);
        at = end;
    }
}

/// JSON without white space outside strings; all else stays to the letter.
pub fn minify(raw: &str) -> Cow<'_, str> {
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let mut any = false;
    runs(raw, |run, string| any |= !string && run.bytes().any(is_space));
    if !any {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    runs(raw, |run, string| {
        if string {
            out.push_str(run);
        } else {
            out.extend(run.chars().filter(|c| !matches!(c, ' ' | '\t' | '\n' | '\r')));
        }
    });
    Cow::Owned(out)
}

/// Whether arrays and objects nest deeper than `max`.
pub fn depth_exceeds(text: &str, max: usize) -> bool {
    // Few brackets cannot nest deep: most messages are done here.
    if text.len() <= max || brackets(text.as_bytes()) <= max {
        return false;
    }
    let (mut depth, mut deepest) = (0usize, 0usize);
    runs(text, |run, string| {
        if !string {
            for byte in run.bytes() {
                match byte {
                    b'[' | b'{' => {
                        depth += 1;
                        deepest = deepest.max(depth);
                    }
                    b']' | b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
    });
    deepest > max
}

/// How many opening brackets and braces there are, strings included.
fn brackets(bytes: &[u8]) -> usize {
    // The two differ in one bit. Short chunks, so that their counts fit a byte: then this is vector code.
    let count = |chunk: &[u8]| chunk.iter().fold(0u8, |count, byte| count + u8::from(byte | 0x20 == b'{'));
    bytes.chunks(255).map(|chunk| usize::from(count(chunk))).sum()
}

/// Whether a string in this JSON has an escape of one half of a surrogate pair without the other.
pub fn has_lone_surrogate(raw: &str) -> bool {
    if memchr::memmem::find(raw.as_bytes(), b"\\u").is_none() {
        return false;
    }
    let mut found = false;
    runs(raw, |run, string| {
        if string && !found && run.contains("\\u") {
            found = serde_json::from_str::<String>(run).is_err();
        }
    });
    found
}

/// A number as JavaScript prints it (`50`, not `50.0`); `None` if JSON has no word for it.
pub fn format_f64(value: f64) -> Option<String> {
    let size = value.abs();
    if !value.is_finite() {
        return None;
    }
    if size == 0.0 {
        // Negative zero too.
        return Some("0".to_owned());
    }
    if (1e-6..1e21).contains(&size) {
        return Some(value.to_string());
    }
    // Rust writes 1e21, JavaScript 1e+21.
    let text = format!("{value:e}");
    Some(if size > 1.0 { text.replace('e', "e+") } else { text })
}

/// The value of a JSON number that is whole, exactly: `42`, `42.0` and `4.2e1` alike. `None` for all else, and beyond
/// 128 bits.
pub fn parse_integer(raw: &str) -> Option<i128> {
    let (mantissa, exponent) = match raw.find(['e', 'E']) {
        Some(at) => (&raw[..at], raw[at + 1..].parse::<i64>().ok()?),
        None => (raw, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = format!("{whole}{fraction}");
    let mut power = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    if !digits.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
        return digits.bytes().any(|byte| byte == b'0').then_some(0);
    }
    while power < 0 && digits.ends_with('0') {
        digits.pop();
        power += 1;
    }
    // A digit is left after the point, or there are more than 128 bits.
    let scale = 10i128.checked_pow(u32::try_from(power).ok()?)?;
    digits.parse::<i128>().ok()?.checked_mul(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_exactly() {
        let cases = [
            ("7", Some(7)),
            ("-0", Some(0)),
            ("42.0", Some(42)),
            ("4.2e1", Some(42)),
            ("1E+2", Some(100)),
            ("100e-2", Some(1)),
            ("9007199254740993.0", Some(9_007_199_254_740_993)),
            ("-9223372036854775808", Some(i128::from(i64::MIN))),
            ("0e999999999999", Some(0)),
            ("1.5", None),
            ("1e-400", None),
            ("1e400", None),
            ("x", None),
        ];
        for (raw, value) in cases {
            assert_eq!(parse_integer(raw), value, "{raw}");
        }
    }

    #[test]
    fn members_keep_order_and_the_last_value() {
        let members = Members::parse(r#"{"a":1,"b":{"x":[2]},"a":3,"\u0063":"d"}"#).unwrap();
        let pairs: Vec<(&str, &str)> = members.0.iter().map(|(key, value)| (key.as_ref(), *value)).collect();
        assert_eq!(pairs, [("a", "3"), ("b", r#"{"x":[2]}"#), ("c", "\"d\"")]);
        assert!(Members::parse("[]").is_err());
        let many: String = (0..200).map(|n| format!("\"k{}\":{n},", n % 150)).collect();
        let many = format!("{{{}}}", many.trim_end_matches(','));
        let members = Members::parse(&many).unwrap();
        assert_eq!((members.0.len(), members.get("k0"), members.get("k149")), (150, Some("150"), Some("149")));
    }

    #[test]
    fn white_space_goes_and_strings_stay() {
        assert_eq!(minify("{ \"a b\" : [ 1 ,\n\"\\\" x\" ] }"), "{\"a b\":[1,\"\\\" x\"]}");
        assert!(matches!(minify("{\"a b\":1}"), Cow::Borrowed(_)));
    }

    #[test]
    fn depth_counts_outside_strings() {
        let deep = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        assert!(!depth_exceeds(&deep(128), 128) && depth_exceeds(&deep(129), 128));
        assert!(!depth_exceeds(&format!("\"{}\"", "[".repeat(500)), 128));
        assert!(!depth_exceeds(&"[],".repeat(500), 128));
        assert!(depth_exceeds(&format!("{}{}", "{\"a\":[".repeat(65), "\"\\\"]]\""), 128));
        // Not JSON, and no reason to panic.
        for text in ["\"\\", "\"\\é[[", "[\"", "]]]["] {
            assert!(!depth_exceeds(text, 3));
        }
    }

    #[test]
    fn lone_surrogates_are_found() {
        assert!(has_lone_surrogate(r#"{"a":"\ud800"}"#) && has_lone_surrogate(r#"{"\udc00x":1}"#));
        assert!(!has_lone_surrogate(r#"{"a":"\ud83c\udf89 \u00e9 \\ud800"}"#) && !has_lone_surrogate("{}"));
    }

    #[test]
    fn strings_round_trip() {
        let text = "a\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}★🎉\u{2028}";
        let mut out = String::new();
        write_string(&mut out, text);
        assert_eq!(out, serde_json::to_string(text).unwrap());
        assert_eq!(unescape(&out).unwrap(), text);
    }

    #[test]
    fn numbers_print_as_in_javascript() {
        let cases = [
            (50.0, "50"),
            (0.5, "0.5"),
            (-0.0, "0"),
            (1e20, "100000000000000000000"),
            (1.2345678901234568e20, "123456789012345680000"),
            (1e21, "1e+21"),
            (-1.5e300, "-1.5e+300"),
            (1.5e-6, "0.0000015"),
            (1e-7, "1e-7"),
            (-1.5e-7, "-1.5e-7"),
            (5e-324, "5e-324"),
        ];
        for (value, text) in cases {
            assert_eq!(format_f64(value).as_deref(), Some(text));
        }
        assert_eq!((format_f64(f64::NAN), format_f64(f64::INFINITY)), (None, None));
    }
}
