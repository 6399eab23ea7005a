//! What names and URIs may look like; refused when added, with the reason.

/// Longest name of a tool or prompt, in characters.
const MAX_NAME: usize = 128;

/// Checks the name of a tool or prompt: what clients and model APIs accept (`server/tools`, "Tool Names").
pub(super) fn check_name(kind: &str, name: &str) -> Result<(), String> {
    if name.is_empty() || name.chars().nth(MAX_NAME).is_some() {
        return Err(format!("the name of a {kind} must have 1 to {MAX_NAME} characters"));
    }
    match name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))) {
        None => Ok(()),
        Some(c) => Err(format!("the name of a {kind} may have only A-Z a-z 0-9 _ - and . but not {c:?}")),
    }
}

/// Checks that a URI is absolute (RFC 3986: a scheme, a colon, and something after it).
pub(super) fn check_uri(uri: &str) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("its URI must be absolute, such as file:///a.txt, {what}"));
    let Some((scheme, rest)) = uri.split_once(':') else { return wrong("but has no scheme") };
    let mut letters = scheme.chars();
    let starts = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
    if !starts || !letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')) {
        return wrong("but has no scheme");
    }
    if rest.is_empty() {
        return wrong("but ends after the scheme");
    }
    match uri.chars().find(|c| c.is_whitespace() || c.is_control()) {
        None => Ok(()),
        Some(c) => wrong(&format!("without white space or control characters, but has {c:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["a", "A-z_0.9", &"x".repeat(128)] {
            assert_eq!(check_name("tool", good), Ok(()));
        }
        for bad in ["", "a b", "ä", "a/b", &"x".repeat(129)] {
            assert!(check_name("tool", bad).is_err(), "{bad}");
        }
        // 128 characters of two bytes: their kind is the trouble, not their number.
        assert!(check_name("tool", &"ä".repeat(128)).unwrap_err().contains("only A-Z"));
    }

    #[test]
    fn uris() {
        for good in ["file:///a", "weather://Oslo", "urn:x", "test://★"] {
            assert_eq!(check_uri(good), Ok(()));
        }
        for bad in ["", "a", "/a", "://a", "1x:a", "x:", "x:a b", "x:a\n"] {
            assert!(check_uri(bad).is_err(), "{bad}");
        }
    }
}
