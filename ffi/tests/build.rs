//! What a build promises beside the code: every export is guarded, versions agree, the list of native libraries holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The sources of the crate, by name.
fn sources() -> BTreeMap<String, String> {
    let files = std::fs::read_dir(root().join("ffi/src")).unwrap();
    files
        .map(|file| file.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap()))
        .collect()
}

/// What runs its closure inside of `catch_unwind`.
const GUARDS: [&str; 7] = ["guard(", "guard_value(", "guard_void(", "finish(", "finish_text(", "define(", "edit("];
/// These return a constant.
const NEED_NONE: [&str; 2] = ["tocsin_version", "tocsin_abi_version"];

#[test]
fn every_export_is_guarded() {
    let mut count = 0;
    for (file, source) in sources() {
        for item in source.split("#[unsafe(no_mangle)]\n").skip(1) {
            let name = item.split("fn ").nth(1).unwrap().split('(').next().unwrap();
            let body = item.split_once(" {\n").unwrap().1.split("\n}\n").next().unwrap();
            let guarded = GUARDS.iter().any(|guard| body.contains(guard));
            assert!(guarded || NEED_NONE.contains(&name), "{file}: {name} lets panics out");
            assert!(item.starts_with("pub unsafe extern \"C\"") || NEED_NONE.contains(&name), "{file}: {name}");
            count += 1;
        }
        let others = source.matches("extern \"C\" fn tocsin_").count();
        assert_eq!(others, source.matches("#[unsafe(no_mangle)]").count(), "{file}: an export is hidden");
    }
    assert!(count > 50, "only {count} exports found");
}

#[test]
fn every_unsafe_block_says_why_it_is_safe() {
    for (file, source) in sources() {
        let lines: Vec<&str> = source.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            if line.contains("unsafe {") || line.contains("unsafe impl") {
                let near = &lines[at.saturating_sub(9)..=at];
                assert!(near.iter().any(|line| line.contains("SAFETY:")), "{file}:{}: {line}", at + 1);
            }
        }
    }
}

#[test]
fn versions_agree() {
    let version = env!("CARGO_PKG_VERSION");
    let header = read("include/tocsin.h");
    let number = |name: &str| {
        let line = header.lines().find_map(|line| line.strip_prefix(&format!("#define {name} ")));
        line.and_then(|line| line.split(' ').next()).unwrap_or_else(|| panic!("no {name}")).to_owned()
    };
    let parts = ["TOCSIN_VERSION_MAJOR", "TOCSIN_VERSION_MINOR", "TOCSIN_VERSION_PATCH"].map(number);
    assert_eq!(parts.join("."), version);
    // The SONAME moves with the ABI.
    let soname = format!("libtocsin.so.{}", number("TOCSIN_ABI_VERSION"));
    assert!(read("ffi/build.rs").contains(&format!("-soname,{soname}")));
    let npm: serde_json::Value = serde_json::from_str(&read("bindings/node/package.json")).unwrap();
    assert_eq!(npm["version"], version);
    let python = read("bindings/python/pyproject.toml");
    let dynamic = python.contains("dynamic = [\"version\"]");
    assert!(dynamic || python.contains(&format!("version = \"{version}\"")), "pyproject.toml has another version");
}
