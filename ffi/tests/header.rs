//! `include/tocsin.h` is made from the sources: one section for each file, headed by the file's own words.
//!
//! `TOCSIN_BLESS=1 cargo test -p tocsin-ffi --test header` writes it anew.

use std::path::Path;

/// Files in the order of the header; a later one may use the types of those before.
const SECTIONS: [&str; 10] =
    ["library", "error", "json", "call", "queue", "handler", "server", "registry", "service", "session"];

fn section(root: &Path, name: &str) -> String {
    let path = root.join(format!("ffi/src/{name}.rs"));
    let source = std::fs::read_to_string(&path).unwrap();
    let title: Vec<&str> =
        source.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.trim_start()).collect();
    let mut text = format!("\n/* ---- {} {}\n", name, "-".repeat(108 - name.len()));
    for line in &title {
        text.push_str(format!(" * {line}").trim_end());
        text.push('\n');
    }
    text.push_str(" */\n");
    let mut config = cbindgen::Config::from_file(root.join("ffi/cbindgen.toml")).unwrap();
    // cbindgen leaves out what no function of the same file uses.
    config.export.include = source
        .lines()
        .filter_map(|line| line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub type ")))
        .filter_map(|rest| rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next())
        .filter(|name| name.starts_with("tocsin_"))
        .map(str::to_owned)
        .collect();
    let mut body = Vec::new();
    cbindgen::Builder::new().with_config(config).with_src(&path).generate().unwrap().write(&mut body);
    text.push_str(tidy(&String::from_utf8(body).unwrap()).as_str());
    text
}

/// Widest line.
const WIDTH: usize = 118;

/// Closes up what cbindgen spreads, and breaks what is too wide. A line's own short comment goes behind it; one that ends
/// with a colon heads a group. Blank lines are left around groups and types alone.
fn tidy(body: &str) -> String {
    let lines: Vec<&str> = body.lines().map(str::trim_end).collect();
    let code = |line: &&&str| !line.is_empty() && !line.trim_start().starts_with("//");
    let is_comment = |line: Option<&&str>| line.is_some_and(|line| line.trim_start().starts_with("//"));
    let compact = |line: &str| line.starts_with("#define") || line.starts_with("TOCSIN_API");
    let mut out = String::new();
    let mut skip = false;
    for (at, line) in lines.iter().enumerate() {
        if std::mem::take(&mut skip) {
            continue;
        }
        if line.is_empty() {
            let last = lines[..at].iter().rev().find(code).is_some_and(|line| compact(line));
            let next = lines[at..].iter().find(code).is_some_and(|line| compact(line));
            if !(out.ends_with("\n\n") || last && next) {
                out.push('\n');
            }
            continue;
        }
        let group = is_comment(Some(line)) && line.ends_with(':');
        if group && !out.is_empty() && !out.ends_with("\n\n") {
            out.push('\n');
        }
        let alone = is_comment(Some(line)) && !group && !is_comment(lines.get(at.wrapping_sub(1)));
        let subject = lines.get(at + 1).filter(|line| line.starts_with("    ") || line.starts_with("#define"));
        match subject.filter(|subject| alone && code(subject) && subject.len() + line.trim().len() < WIDTH) {
            Some(subject) => {
                wrap(&format!("{subject} {}", line.trim()), &mut out);
                skip = true;
            }
            None => wrap(line, &mut out),
        }
    }
    format!("\n{}\n", out.trim())
}

/// Breaks a declaration between its parameters.
fn wrap(mut line: &str, out: &mut String) {
    while line.chars().count() > WIDTH && !line.trim_start().starts_with("//") {
        let Some(cut) = line[..WIDTH].rfind(", ").map(|at| at + 1) else { break };
        out.push_str(&line[..cut]);
        out.push_str("\n    ");
        line = line[cut..].trim_start();
    }
    out.push_str(line);
    out.push('\n');
}

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let frame = std::fs::read_to_string(root.join("ffi/header.txt")).unwrap();
    let (head, foot) = frame.split_once("@SECTIONS@\n").unwrap();
    let mut header = head.to_owned();
    for name in SECTIONS {
        header.push_str(&section(root, name));
    }
    header.push_str(foot);
    let path = root.join("include/tocsin.h");
    if std::env::var_os("TOCSIN_BLESS").is_some() {
        std::fs::write(&path, &header).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == header, "include/tocsin.h is out of date; write it with TOCSIN_BLESS=1");
}
