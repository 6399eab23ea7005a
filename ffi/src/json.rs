//! As much JSON as a handler needs, so that no JSON library is imposed.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::boundary::{as_text, borrow, give, guard, guard_value, guard_void, put, take};
use crate::error::Failure;
use crate::library::{tocsin_status, tocsin_str};

/// A text that grows: a result under construction, or a string taken out of JSON. For one thread at a time.
#[derive(Default)]
pub struct tocsin_text(std::cell::RefCell<String>);

/// Makes an empty text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_text_new(out: *mut *mut tocsin_text) -> tocsin_status {
    // SAFETY: C's place.
    guard(std::ptr::null_mut(), || unsafe { give(out, tocsin_text::default()) })
}

/// Appends text as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_text_add(text: *mut tocsin_text, piece: tocsin_str) -> tocsin_status {
    // SAFETY: C's handle and text.
    edit(text, |out| {
        out.push_str(unsafe { as_text(piece) }?);
        Ok(())
    })
}

/// Appends text as a JSON string: in quotes, with escapes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_text_add_json(text: *mut tocsin_text, piece: tocsin_str) -> tocsin_status {
    edit(text, |out| {
        // SAFETY: C's text.
        let quoted = serde_json::to_string(unsafe { as_text(piece) }?);
        out.push_str(&quoted.map_err(|error| Failure::json(error.to_string()))?);
        Ok(())
    })
}

/// Appends what a JSON string says: without its quotes and escapes. TOCSIN_STATUS_INVALID_JSON if it is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_text_add_unquoted(text: *mut tocsin_text, json: tocsin_str) -> tocsin_status {
    edit(text, |out| {
        // SAFETY: C's text.
        let said: String = serde_json::from_str(unsafe { as_text(json) }?)
            .map_err(|error| Failure::json(format!("not a JSON string: {error}")))?;
        out.push_str(&said);
        Ok(())
    })
}

/// Appends json without white space between its tokens.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_text_add_compact(text: *mut tocsin_text, json: tocsin_str) -> tocsin_status {
    edit(text, |out| {
        // SAFETY: C's text.
        out.push_str(&compact(unsafe { as_text(json) }?)?);
        Ok(())
    })
}

/// Takes out all but the first len bytes; 0 empties it. len must not cut a character.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_text_cut(text: *mut tocsin_text, len: usize) -> tocsin_status {
    edit(text, |out| {
        if !out.is_char_boundary(len.min(out.len())) {
            return Err(Failure::argument("len cuts a character"));
        }
        out.truncate(len);
        Ok(())
    })
}

/// What it holds; valid until it is changed or freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_text_str(text: *const tocsin_text) -> tocsin_str {
    // SAFETY: C's handle.
    guard_value(tocsin_str::EMPTY, || Ok(tocsin_str::lend(&unsafe { borrow(text) }?.0.borrow())))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_text_free(text: *mut tocsin_text) {
    // SAFETY: C's handle, given back.
    guard_void(|| drop(unsafe { take(text) }));
}

fn edit(text: *mut tocsin_text, f: impl FnOnce(&mut String) -> Result<(), Failure>) -> tocsin_status {
    // SAFETY: C's handle, used by one thread at a time.
    guard(std::ptr::null_mut(), || f(&mut unsafe { borrow(text) }?.0.borrow_mut()))
}

/// Finds a value in JSON by a JSON pointer (RFC 6901), such as "/content/0/text"; "" is the whole. The value is a part
/// of json, as it stands there. TOCSIN_STATUS_NOT_FOUND if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_json_get(json: tocsin_str, pointer: tocsin_str, out: *mut tocsin_str) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's texts.
        let (json, pointer) = unsafe { (as_text(json)?, as_text(pointer)?) };
        let found = tocsin_str::lend(find(json, pointer)?);
        // SAFETY: C's place.
        unsafe { put(out, found) }.map_err(|(failure, _)| failure)
    })
}

/// Reads a whole number exactly; 42.0 and 1e2 are whole, too. TOCSIN_STATUS_INVALID_JSON if json is no whole number, or
/// one that does not fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_json_int(json: tocsin_str, out: *mut i64) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's text.
        let number = whole(unsafe { as_text(json) }?)?;
        // SAFETY: C's place.
        unsafe { put(out, number) }.map_err(|(failure, _)| failure)
    })
}

/// Reads a number as a double.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tocsin_json_double(json: tocsin_str, out: *mut f64) -> tocsin_status {
    guard(std::ptr::null_mut(), || {
        // SAFETY: C's text.
        let number: f64 = serde_json::from_str(unsafe { as_text(json) }?)
            .map_err(|error| Failure::json(format!("not a number: {error}")))?;
        // SAFETY: C's place.
        unsafe { put(out, number) }.map_err(|(failure, _)| failure)
    })
}

/// Checks that it is JSON, and takes the white space out.
pub fn compact(json: &str) -> Result<std::borrow::Cow<'_, str>, Failure> {
    Ok(tocsin_core::minify(parse::<&RawValue>(json)?.get()))
}

fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> Result<T, Failure> {
    serde_json::from_str(json).map_err(|error| Failure::json(format!("not JSON: {error}")))
}

fn find<'a>(json: &'a str, pointer: &str) -> Result<&'a str, Failure> {
    let mut place: &RawValue = parse(json)?;
    let Some(pointer) = pointer.strip_prefix('/') else {
        return if pointer.is_empty() {
            Ok(place.get())
        } else {
            Err(Failure::argument("a JSON pointer is empty or begins with '/'"))
        };
    };
    for step in pointer.split('/') {
        let step = step.replace("~1", "/").replace("~0", "~");
        let next = match place.get().as_bytes().first() {
            Some(b'{') => parse::<HashMap<String, &RawValue>>(place.get())?.remove(&step),
            Some(b'[') => {
                let index = step.parse().ok().filter(|_| !step.starts_with('+')).unwrap_or(usize::MAX);
                parse::<Vec<&RawValue>>(place.get())?.into_iter().nth(index)
            }
            _ => None,
        };
        place = next.ok_or_else(|| Failure::not_found(format!("nothing at '{step}'")))?;
    }
    Ok(place.get())
}

fn whole(json: &str) -> Result<i64, Failure> {
    let raw: &RawValue = parse(json)?;
    let number = tocsin_core::parse_integer(raw.get()).and_then(|number| i64::try_from(number).ok());
    number.ok_or_else(|| Failure::json("not a whole number that fits 64 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_find() {
        let json = r#"{"a/b":{"~":[10, {"x":"y"}]}, "":1}"#;
        for (pointer, value) in [("", json), ("/a~1b/~0/0", "10"), ("/a~1b/~0/1/x", "\"y\""), ("/", "1")] {
            assert_eq!(find(json, pointer).unwrap(), value, "{pointer}");
        }
        for pointer in ["/b", "/a~1b/~0/2", "/a~1b/~0/-", "/a~1b/~0/+1", "//x"] {
            assert_eq!(find(json, pointer).unwrap_err().status(), 4, "{pointer}");
        }
        assert_eq!(find("{", "").unwrap_err().status(), 2);
        assert_eq!(find("{}", "a").unwrap_err().status(), 1);
    }

    #[test]
    fn whole_numbers_are_exact() {
        for (json, number) in [("9223372036854775807", i64::MAX), ("-9223372036854775808", i64::MIN), ("1e2", 100)] {
            assert_eq!(whole(json).unwrap(), number);
        }
        assert_eq!(whole(" 42.0").unwrap(), 42);
        for json in ["9223372036854775808", "1.5", "1e300", "\"1\"", "", "true"] {
            assert!(whole(json).is_err(), "{json}");
        }
    }
}
