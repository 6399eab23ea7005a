//! Request ids and progress tokens: kept as they came, compared by type and value.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::json;

/// A JSON-RPC id, or a progress token: a string or an integer.
///
/// It keeps its JSON token, so that it is echoed digit by digit: `7`, `"7"` and `9007199254740993` are three different
/// ids. Comparison is by type and value: `1e2` is `100`.
#[derive(Clone)]
pub struct Id {
    token: Box<str>,
    /// The canonical form, where the token is not.
    key: Option<Box<str>>,
}

impl Id {
    /// The id of a JSON token; `None` if it is neither a string nor an integer.
    pub fn parse(raw: &str) -> Option<Id> {
        let first = *raw.as_bytes().first()?;
        if first == b'"' {
            let key = raw.contains('\\').then(|| match json::unescape(raw) {
                Some(text) => format!("\"{text}").into(),
                // An escape of a lone surrogate is no text; such an id is equal to the same token alone.
                None => format!("\\{raw}").into(),
            });
            return Some(Id { token: raw.into(), key });
        }
        if is_plain(raw) {
            return Some(Id { token: raw.into(), key: None });
        }
        let key = canonical(raw)?;
        Some(Id { token: raw.into(), key: Some(key.into()) })
    }

    /// An id of ours.
    pub fn number(n: i64) -> Id {
        Id { token: n.to_string().into(), key: None }
    }

    /// The JSON token, as it came.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// A text that is equal for equal ids: a quote and the characters, or digits. (A backslash and the token of what is
    /// no text.)
    fn key(&self) -> &str {
        match &self.key {
            Some(key) => key,
            None => self.token.strip_suffix('"').unwrap_or(&self.token),
        }
    }
}

/// A power of ten beyond this stays a power: an exponent must not make us write out its zeros.
const MAX_ZEROS: usize = 64;

/// Digits without a leading zero, perhaps after a minus, and too few for a power of ten: already canonical.
fn is_plain(raw: &str) -> bool {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    match digits.as_bytes() {
        [b'0'] => raw.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.len() <= MAX_ZEROS && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// The canonical form of a JSON number whose value is an integer: no fraction, no exponent if it is small.
fn canonical(raw: &str) -> Option<String> {
    let (sign, rest) = match raw.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", raw),
    };
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], rest[at + 1..].strip_prefix('+').unwrap_or(&rest[at + 1..])),
        None => (rest, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = [whole, fraction].concat();
    let significant = digits.trim_start_matches('0');
    let stripped = significant.trim_end_matches('0');
    if stripped.is_empty() {
        return Some("0".to_owned());
    }
    // What the last kept digit counts: ten to the power of this. (An exponent of over 38 digits is refused.)
    let zeros = i128::try_from(significant.len() - stripped.len()).ok()?;
    let places = i128::try_from(fraction.len()).ok()?;
    let power = exponent.parse::<i128>().ok()?.checked_sub(places)?.checked_add(zeros)?;
    match usize::try_from(power) {
        _ if power < 0 => None,
        Ok(power) if power <= MAX_ZEROS => Some(format!("{sign}{stripped}{}", "0".repeat(power))),
        _ => Some(format!("{sign}{stripped}e{power}")),
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Id) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.token)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        Id::parse(a).unwrap() == Id::parse(b).unwrap()
    }

    #[test]
    fn tokens_are_kept() {
        for token in ["7", "\"7\"", "\"a b\"", "\"\"", "0", "-1", "9007199254740993", "1.0", "1e2", "-0", "\"\\u0061\""]
        {
            assert_eq!(Id::parse(token).unwrap().token(), token);
        }
        let long = "1234567890123456789012345678901234567890";
        assert_eq!(Id::parse(long).unwrap().token(), long);
    }

    #[test]
    fn comparison_is_by_type_and_value() {
        assert!(same("1e2", "100") && same("100.0", "1E+2") && same("-0", "0") && same("0.0", "0") && same("0e9", "0"));
        assert!(same("\"a\"", "\"\\u0061\"") && same("1000e-1", "100"));
        assert!(!same("7", "\"7\"") && !same("9007199254740993", "9007199254740992") && !same("1", "-1"));
        assert!(!same("\"\\ud800\"", "\"a\"") && same("\"\\ud800\"", "\"\\ud800\""));
        assert!(!same("1e70", "1e71") && same("1e70", "10e69"));
        let zeros = format!("1{}", "0".repeat(70));
        assert!(same(&zeros, &format!("{zeros}.0")) && same(&zeros, "1e70") && !same(&zeros, "1e71"));
        let zeros = format!("-12{}", "0".repeat(64));
        assert!(same(&zeros, "-12e64") && same(&zeros, "-1.2E65") && same(&format!("{zeros}0"), "-12e65"));
        assert!(same("1e99999999999999999999", "10e99999999999999999998"));
    }

    #[test]
    fn an_escaped_surrogate_is_not_the_text_of_its_escape() {
        assert!(!same(r#""\\ud800""#, r#""\ud800""#) && !same(r#""\ud800""#, r#""\uD800""#));
        assert!(!same(r#""\\\"\\ud800\"""#, r#""\ud800""#));
    }

    #[test]
    fn what_is_no_integer_is_no_id() {
        for token in ["null", "1.5", "true", "{}", "[]", "1e-1", "0.1", "1e-99999999999999999999", "12.5e0"] {
            assert!(Id::parse(token).is_none(), "{token}");
        }
        assert!(Id::parse("1e999999999").is_some());
    }
}
