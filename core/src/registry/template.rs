//! URI templates (RFC 6570) read backwards: which resource a URI names, and with which variables.

mod percent;

use super::names;
use percent::{decode, encoded_char};

/// One part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// `{name}`: at least one character of one path segment. Reserved, `{+name}`: of anything, slashes too.
    Variable {
        name: String,
        reserved: bool,
    },
    /// `{?a,b}` and `{&a,b}`: query parameters, each of which may be missing, in any order.
    Query {
        first: u8,
        names: Vec<String>,
    },
}

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UriTemplate {
    text: String,
    /// The literal it begins with, scheme included.
    head: String,
    /// What comes after it.
    parts: Vec<Part>,
}

const HELP: &str = "use {name}, {+name}, {/name}, {.name}, {#name}, {?a,b} or {&a,b}";

/// Longer URIs match no template: time and memory go with the product of both lengths.
const MAX_URI: usize = 64 << 10;

impl UriTemplate {
    /// Parses a template; the reason says what would be right.
    pub fn parse(text: &str) -> Result<UriTemplate, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            if rest.as_bytes()[open] == b'}' {
                return Err(format!("its template has a '}}' without '{{'; {HELP}"));
            }
            let close = rest.find('}').ok_or_else(|| format!("its template has a '{{' without '}}'; {HELP}"))?;
            push(&mut parts, Part::Literal(rest[..open].to_owned()));
            expression(&mut parts, &rest[open + 1..close])?;
            rest = &rest[close + 1..];
        }
        push(&mut parts, Part::Literal(rest.to_owned()));
        let literals: Vec<&str> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Literal(literal) => Some(literal.as_str()),
                _ => None,
            })
            .collect();
        match parts.first() {
            Some(Part::Literal(head)) if head.contains(':') => names::check_uri(&format!("{}x", literals.concat()))?,
            _ => return Err("its template must begin with a scheme, such as weather://{city}".to_owned()),
        }
        let Part::Literal(head) = parts.remove(0) else { return Err(HELP.to_owned()) };
        let template = UriTemplate { text: text.to_owned(), head, parts };
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
                Part::Variable { name, .. } => std::slice::from_ref(name),
                Part::Query { names, .. } => names.as_slice(),
            })
            .map(String::as_str)
    }

    /// The template as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Variables of a URI that the template can make, percent-decoded; missing query parameters are left out. Of several
    /// ways to read it, each variable takes the longest value that leaves the rest a way, query parameters apart.
    pub fn matches(&self, uri: &str) -> Option<Vec<(String, String)>> {
        if uri.len() > MAX_URI {
            return None;
        }
        let subject = Subject::new(uri.strip_prefix(self.head.as_str())?);
        // For each part, from the last: at which places can it begin? Every place is looked at once per part, however
        // many ways there are to cut the URI.
        let mut rows = vec![subject.end_only()];
        for part in self.parts.iter().rev() {
            let row = subject.row(part, rows.last()?);
            rows.push(row);
        }
        let mut found = Vec::new();
        let mut at = 0;
        if !*rows.pop()?.first()? {
            return None;
        }
        for (index, part) in self.parts.iter().enumerate() {
            let after = rows.pop()?;
            at = match part {
                Part::Literal(literal) => at + literal.len(),
                Part::Variable { name, reserved } => {
                    let end = if *reserved { subject.text.len() } else { subject.segment_end(at) };
                    let fits = |to: &usize| after[*to] && subject.cuts[*to];
                    // A query that can be read as one is not taken for a piece of the path.
                    let is_query = matches!(self.parts.get(index + 1), Some(Part::Query { first: b'?', .. }));
                    let query = subject.query.filter(|query| is_query && (at + 1..=end).contains(query) && fits(query));
                    let to = query.or_else(|| (at + 1..=end).rev().find(fits))?;
                    found.push((name.clone(), decode(&subject.text[at..to])?));
                    to
                }
                Part::Query { first, names } => match subject.pairs(at, *first, names) {
                    Pairs::None => at,
                    Pairs::Foreign => return None,
                    Pairs::Some(pairs) => {
                        found.extend(pairs);
                        subject.fragment
                    }
                },
            };
        }
        Some(found)
    }
}

/// Adds a part: neighbouring literals and queries become one, empty literals none.
fn push(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (_, Part::Literal(text)) if text.is_empty() => {}
        (Some(Part::Literal(before)), Part::Literal(text)) => before.push_str(&text),
        (Some(Part::Query { names: before, .. }), Part::Query { first: b'&', names }) => before.extend(names),
        (_, part) => parts.push(part),
    }
}

fn expression(parts: &mut Vec<Part>, text: &str) -> Result<(), String> {
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
    let mut variable = |prefix: &str, reserved| {
        push(parts, Part::Literal(prefix.to_owned()));
        push(parts, Part::Variable { name: single(names.clone())?, reserved });
        Ok(())
    };
    match operator {
        None => variable("", false),
        Some('/') => variable("/", false),
        Some('.') => variable(".", false),
        Some('#') => variable("#", true),
        Some(operator @ ('?' | '&')) => {
            push(parts, Part::Query { first: if operator == '?' { b'?' } else { b'&' }, names });
            Ok(())
        }
        Some(_) => variable("", true),
    }
}

/// A URI after the template's head, and its landmarks.
struct Subject<'a> {
    text: &'a str,
    /// Places where a value may begin or end: not within a character, percent-encoded or not.
    cuts: Vec<bool>,
    /// Where the query begins.
    query: Option<usize>,
    /// Where the fragment begins, or the end.
    fragment: usize,
}

/// Query parameters at some place.
enum Pairs {
    /// No query begins there.
    None,
    /// One does, and has something else than the wanted parameters.
    Foreign,
    Some(Vec<(String, String)>),
}

impl<'a> Subject<'a> {
    fn new(text: &'a str) -> Subject<'a> {
        let mut cuts: Vec<bool> = (0..=text.len()).map(|at| text.is_char_boundary(at)).collect();
        let mut at = 0;
        while let Some(offset) = text[at..].find('%') {
            at += offset;
            let length = encoded_char(&text.as_bytes()[at..]);
            cuts[at + 1..at + length].fill(false);
            at += length;
        }
        let fragment = text.find('#').unwrap_or(text.len());
        Subject { text, cuts, query: text[..fragment].find('?'), fragment }
    }

    /// The places at which nothing is left.
    fn end_only(&self) -> Vec<bool> {
        (0..=self.text.len()).map(|at| at == self.text.len()).collect()
    }

    /// The places at which `part` can begin so that what follows begins at a place in `after`.
    fn row(&self, part: &Part, after: &[bool]) -> Vec<bool> {
        let bytes = self.text.as_bytes();
        let mut row = vec![false; after.len()];
        match part {
            Part::Literal(literal) => {
                for at in 0..after.len().saturating_sub(literal.len()) {
                    row[at] = after[at + literal.len()] && bytes[at..].starts_with(literal.as_bytes());
                }
            }
            Part::Variable { reserved, .. } => {
                let mut has_end = false;
                for at in (0..bytes.len()).rev() {
                    has_end |= after[at + 1] && self.cuts[at + 1];
                    has_end &= *reserved || !is_delimiter(bytes[at]);
                    row[at] = has_end && self.cuts[at];
                }
            }
            Part::Query { first, names } => {
                for at in 0..after.len() {
                    row[at] = match self.pairs(at, *first, names) {
                        Pairs::None => after[at],
                        Pairs::Foreign => false,
                        Pairs::Some(_) => after[self.fragment],
                    };
                }
            }
        }
        row
    }

    fn segment_end(&self, at: usize) -> usize {
        self.text.as_bytes()[at..].iter().position(|byte| is_delimiter(*byte)).map_or(self.text.len(), |end| at + end)
    }

    /// The query parameters that begin at `at` and go on to the fragment.
    fn pairs(&self, at: usize, first: u8, names: &[String]) -> Pairs {
        let begins = self.text.as_bytes().get(at) == Some(&first) && at < self.fragment;
        if !begins || first == b'?' && self.query != Some(at) {
            return Pairs::None;
        }
        let mut pairs: Vec<(String, String)> = Vec::new();
        for pair in self.text[at + 1..self.fragment].split('&') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let wanted = names.iter().any(|name| name == key) && !pairs.iter().any(|(name, _)| name == key);
            match decode(value).filter(|_| wanted) {
                Some(value) => pairs.push((key.to_owned(), value)),
                None => return Pairs::Foreign,
            }
        }
        Pairs::Some(pairs)
    }
}

/// What ends a path segment.
fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'/' | b'?' | b'#')
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
            ("a://b{?a}{&b}", "a://b?b=2&a=1", Some("b=2 a=1")),
            ("a://b{?a}{&b}", "a://b?a=1&a=2", None),
            ("a://b{?a}{#f}", "a://b?a=1#x?y", Some("a=1 f=x?y")),
            ("a://b{?a}", "a://b?a=%zz", None),
            ("file:///{+path}{?rev}", "file:///a/b?rev=2", Some("path=a/b rev=2")),
            ("file:///{+path}{?rev}", "file:///a/b?other=2", Some("path=a/b?other=2")),
            ("file:///{+path}{?rev}", "file:///a/b", Some("path=a/b")),
            ("file:///{dir}{/name}{.ext}{?rev}", "file:///a/b.c.d?rev=2", Some("dir=a name=b.c ext=d rev=2")),
            ("a://{x}{y}", "a://S%C3%A3", Some("x=S y=ã")),
            ("a://{x}{y}", "a://%C3%A3", None),
            ("a://{x}{y}", "a://ãé", Some("x=ã y=é")),
            ("a://{x}", "a://%C3", None),
            ("a://{x}", "a://a%2Fb", Some("x=a/b")),
            ("a://{x}/{+y}/z", "a://1/2/z/z", Some("x=1 y=2/z")),
            ("a://fixed", "a://fixed", Some("")),
            ("a://fixed", "a://fixedx", None),
            ("a://{x}.txt", "a://.txt", None),
            ("test://template/{id}/data", "test://template/123/data", Some("id=123")),
        ];
        for (template, uri, expected) in cases {
            assert_eq!(matched(template, uri).as_deref(), expected, "{template} {uri}");
        }
    }

    #[test]
    fn bad_templates_say_what_would_do() {
        for bad in [
            "a://{",
            "a://}",
            "a://{}",
            "a://{x*}",
            "a://{x:3}",
            "a://{|x}",
            "a://{x,y}",
            "{x}",
            "a://{x}{x}",
            "a",
            "a b:{x}",
            "a://{x} ",
            "1:{x}",
            "",
            "a://{+x,y}",
            "a://{x",
        ] {
            assert!(UriTemplate::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_template_takes_long() {
        let start = std::time::Instant::now();
        let x = "x".repeat(60_000);
        let cases = [
            ("a://{+a}x{+b}x{+c}x{+d}x{+e}x{+f}y", format!("a://{x}"), false),
            ("a://{+a}{+b}{+c}y", format!("a://{x}"), false),
            ("a://{+a}{+b}xxxxxxxxxxxxxxxxxx{+c}y", format!("a://{x}y"), true),
            ("a://{+a}{?q}{#f}", format!("a://{}#", "?&".repeat(30_000)), false),
            ("a://b{+x}{&q}z", format!("a://b{}", "&q=".repeat(20_000)), false),
        ];
        for (template, uri, expected) in cases {
            assert_eq!(UriTemplate::parse(template).unwrap().matches(&uri).is_some(), expected, "{template}");
        }
        let long = "x".repeat(MAX_URI);
        assert_eq!(UriTemplate::parse("a://{+a}").unwrap().matches(&format!("a://{long}")), None);
        // Generous: it is some milliseconds, and was minutes if it grew with the square.
        assert!(start.elapsed().as_secs() < 5);
    }

    #[test]
    fn variables_are_told_in_order() {
        let template = UriTemplate::parse("a://{b}/{+c}{?d,a}{&e}{#f}").unwrap();
        assert_eq!(template.variables().collect::<Vec<_>>(), ["b", "c", "d", "a", "e", "f"]);
        assert_eq!(template.as_str(), "a://{b}/{+c}{?d,a}{&e}{#f}");
    }
}
