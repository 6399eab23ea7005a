//! URI templates (RFC 6570) read backwards: which resource a URI names, and with which variables.

/// One part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// `{name}`: within one path segment. With a prefix (`/`, `.`, `#`) that comes before the value.
    Segment {
        prefix: &'static str,
        name: String,
    },
    /// `{+name}` and `{#name}`: anything, slashes too.
    Rest {
        prefix: &'static str,
        name: String,
    },
    /// `{?a,b}` and `{&a,b}`: query parameters, each of which may be missing, in any order.
    Query {
        first: char,
        names: Vec<String>,
    },
}

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UriTemplate {
    text: String,
    parts: Vec<Part>,
}

const HELP: &str = "use {name}, {+name}, {/name}, {.name}, {#name}, {?a,b} or {&a,b}";

impl UriTemplate {
    /// Parses a template; the reason says what would be right.
    pub fn parse(text: &str) -> Result<UriTemplate, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            if rest.as_bytes()[open] == b'}' {
                return Err(format!("its template has a '}}' without '{{'; {HELP}"));
            }
            if open > 0 {
                parts.push(Part::Literal(rest[..open].to_owned()));
            }
            let close = rest.find('}').ok_or_else(|| format!("its template has a '{{' without '}}'; {HELP}"))?;
            parts.push(expression(&rest[open + 1..close])?);
            rest = &rest[close + 1..];
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        let template = UriTemplate { text: text.to_owned(), parts };
        match template.parts.first() {
            Some(Part::Literal(literal)) if literal.contains(':') => {}
            _ => return Err("its template must begin with a scheme, such as weather://{city}".to_owned()),
        }
        let mut names: Vec<&str> = template.variables().collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("its template has the variable '{}' twice", twice[0]));
        }
        Ok(template)
    }

    /// Names of its variables, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::Literal(_) => &[],
                Part::Segment { name, .. } | Part::Rest { name, .. } => std::slice::from_ref(name),
                Part::Query { names, .. } => names.as_slice(),
            })
            .map(String::as_str)
    }

    /// The template as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Variables of a URI that the template can make, percent-decoded; missing query parameters are left out.
    pub fn matches(&self, uri: &str) -> Option<Vec<(String, String)>> {
        let mut budget = MAX_STEPS;
        let mut found = Vec::new();
        match_parts(&self.parts, uri, &mut found, &mut budget).then_some(found)
    }
}

/// Tries at most, so that no template and URI together cost more than a moment.
const MAX_STEPS: usize = 10_000;

fn expression(text: &str) -> Result<Part, String> {
    let (operator, names) = match text.chars().next() {
        Some(c @ ('+' | '#' | '.' | '/' | '?' | '&')) => (Some(c), &text[1..]),
        _ => (None, text),
    };
    let good =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    let names: Vec<String> = names.split(',').map(str::to_owned).collect();
    if let Some(bad) = names.iter().find(|name| !good(name)) {
        return Err(format!("its template has '{{{text}}}', where '{bad}' is no variable name; {HELP}"));
    }
    let single = |names: Vec<String>| match <[String; 1]>::try_from(names) {
        Ok([name]) => Ok(name),
        Err(_) => Err(format!("its template has '{{{text}}}', where only one variable can be matched; {HELP}")),
    };
    Ok(match operator {
        None => Part::Segment { prefix: "", name: single(names)? },
        Some('/') => Part::Segment { prefix: "/", name: single(names)? },
        Some('.') => Part::Segment { prefix: ".", name: single(names)? },
        Some('#') => Part::Rest { prefix: "#", name: single(names)? },
        Some(first @ ('?' | '&')) => Part::Query { first, names },
        Some(_) => Part::Rest { prefix: "", name: single(names)? },
    })
}

fn match_parts(parts: &[Part], uri: &str, found: &mut Vec<(String, String)>, budget: &mut usize) -> bool {
    let Some(left) = budget.checked_sub(1) else { return false };
    *budget = left;
    let Some((part, rest)) = parts.split_first() else { return uri.is_empty() };
    match part {
        Part::Literal(literal) => {
            uri.strip_prefix(literal.as_str()).is_some_and(|uri| match_parts(rest, uri, found, budget))
        }
        Part::Segment { prefix, name } => {
            let Some(uri) = uri.strip_prefix(prefix) else { return false };
            let end = uri.find(['/', '?', '#']).unwrap_or(uri.len());
            match_value(name, uri, end, rest, found, budget)
        }
        Part::Rest { prefix, name } => {
            let Some(uri) = uri.strip_prefix(prefix) else { return false };
            match_value(name, uri, uri.len(), rest, found, budget)
        }
        Part::Query { first, names } => match_query(*first, names, uri, rest, found, budget),
    }
}

/// Gives `name` the longest value, of at least one character and at most `end` bytes, after which the rest matches.
fn match_value(
    name: &str,
    uri: &str,
    end: usize,
    rest: &[Part],
    found: &mut Vec<(String, String)>,
    budget: &mut usize,
) -> bool {
    // Where a literal follows, only its places are worth a try.
    let follows = |at: usize| match rest.first() {
        Some(Part::Literal(literal)) => uri[at..].starts_with(literal.as_str()),
        Some(_) => true,
        None => at == uri.len(),
    };
    for at in (1..=end).rev().filter(|at| uri.is_char_boundary(*at)) {
        if !follows(at) {
            continue;
        }
        let Some(value) = decode(&uri[..at]) else { continue };
        let mark = found.len();
        found.push((name.to_owned(), value));
        if match_parts(rest, &uri[at..], found, budget) {
            return true;
        }
        found.truncate(mark);
        if *budget == 0 {
            return false;
        }
    }
    false
}

fn match_query(
    first: char,
    names: &[String],
    uri: &str,
    rest: &[Part],
    found: &mut Vec<(String, String)>,
    budget: &mut usize,
) -> bool {
    let end = uri.find('#').unwrap_or(uri.len());
    let mark = found.len();
    if let Some(query) = uri[..end].strip_prefix(first) {
        for pair in query.split('&') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let known = names.iter().any(|name| name == key) && !found[mark..].iter().any(|(name, _)| name == key);
            match decode(value).filter(|_| known) {
                Some(value) => found.push((key.to_owned(), value)),
                None => {
                    found.truncate(mark);
                    return false;
                }
            }
        }
        if match_parts(rest, &uri[end..], found, budget) {
            return true;
        }
        found.truncate(mark);
        return false;
    }
    match_parts(rest, uri, found, budget)
}

/// Percent-decodes; `None` if it is broken or not UTF-8.
fn decode(text: &str) -> Option<String> {
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
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(template: &str, uri: &str) -> Option<String> {
        let found = UriTemplate::parse(template).unwrap().matches(uri)?;
        Some(found.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn variables_are_found() {
        let cases = [
            ("weather://{city}", "weather://Oslo", Some("city=Oslo")),
            ("weather://{city}", "weather://Oslo/x", None),
            ("weather://{city}", "weather://", None),
            ("weather://{city}", "weather://S%C3%A3o%20Paulo", Some("city=São Paulo")),
            ("weather://{city}", "weather://%zz", None),
            ("a://{x}/{y}.txt", "a://1/2.3.txt", Some("x=1 y=2.3")),
            ("a://{x}-{y}", "a://1-2-3", Some("x=1-2 y=3")),
            ("file:///{+path}", "file:///a/b/c", Some("path=a/b/c")),
            ("a://b{/c}", "a://b/d", Some("c=d")),
            ("a://b{.ext}", "a://b.png", Some("ext=png")),
            ("a://b{#part}", "a://b#x/y", Some("part=x/y")),
            ("a://b{?q,n}", "a://b?n=2&q=x%26y", Some("n=2 q=x&y")),
            ("a://b{?q,n}", "a://b", Some("")),
            ("a://b{?q,n}", "a://b?z=1", None),
            ("a://b?f=1{&q}", "a://b?f=1&q=2", Some("q=2")),
            ("test://template/{id}/data", "test://template/123/data", Some("id=123")),
        ];
        for (template, uri, expected) in cases {
            assert_eq!(matched(template, uri).as_deref(), expected, "{template} {uri}");
        }
    }

    #[test]
    fn bad_templates_say_what_would_do() {
        for bad in
            ["a://{", "a://}", "a://{}", "a://{x*}", "a://{x:3}", "a://{|x}", "a://{x,y}", "{x}", "a://{x}{x}", "a"]
        {
            assert!(UriTemplate::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_template_takes_long() {
        let template = UriTemplate::parse("a://{+a}x{+b}x{+c}x{+d}x{+e}x{+f}y").unwrap();
        assert_eq!(template.matches(&format!("a://{}", "x".repeat(5000))), None);
    }
}
