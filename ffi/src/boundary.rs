//! Where calls from C come in: every exported function is one call of [`guard`], and every pointer of C's goes through
//! one of the helpers here.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Failure, tocsin_error};
use crate::library::{TOCSIN_STATUS_OK, tocsin_status, tocsin_str};

/// Runs the body of an exported function: no panic leaves it, and its failure becomes a status and, if C wants one, an
/// error object in `error`.
pub fn guard(error: *mut *mut tocsin_error, body: impl FnOnce() -> Result<(), Failure>) -> tocsin_status {
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return TOCSIN_STATUS_OK,
        Ok(Err(failure)) => failure,
        Err(_) => Failure::panic(),
    };
    let status = failure.status();
    // SAFETY: `error` is NULL or C's place for a pointer.
    let _ = unsafe { put(error, Box::into_raw(Box::new(tocsin_error(failure)))) }.map_err(|(_, unwanted)| {
        // SAFETY: it was made just now, and nobody else has it.
        drop(unsafe { Box::from_raw(unwanted) });
    });
    status
}

/// [`guard`] for functions that have no status to return.
pub fn guard_value<T>(otherwise: T, body: impl FnOnce() -> Result<T, Failure>) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(_)) | Err(_) => otherwise,
    }
}

/// [`guard`] for functions that return nothing.
pub fn guard_void(body: impl FnOnce()) {
    // The panic hook has told of it.
    let _ = catch_unwind(AssertUnwindSafe(body));
}

/// What a handle of C's points to.
///
/// # Safety
/// `handle` is NULL or was given to C by this library and not taken back. C keeps it alive while the reference is used;
/// what may be freed by a callback of C's in the meantime must be cloned out of it first.
pub unsafe fn borrow<'a, T>(handle: *const T) -> Result<&'a T, Failure> {
    // SAFETY: as the caller says.
    unsafe { handle.as_ref() }.ok_or_else(|| Failure::argument("a handle is NULL"))
}

/// Takes a handle back, for the `free` functions; `None` for NULL.
///
/// # Safety
/// As for [`borrow`], and it came from [`give`].
pub unsafe fn take<T>(handle: *mut T) -> Option<Box<T>> {
    // SAFETY: as the caller says.
    (!handle.is_null()).then(|| unsafe { Box::from_raw(handle) })
}

/// Gives C a new handle through `out`.
///
/// # Safety
/// `out` is NULL or C's place for a pointer.
pub unsafe fn give<T>(out: *mut *mut T, value: T) -> Result<(), Failure> {
    let handle = Box::into_raw(Box::new(value));
    // SAFETY: as the caller says.
    unsafe { put(out, handle) }.map_err(|(failure, handle)| {
        // SAFETY: it was made just now, and nobody else has it.
        drop(unsafe { Box::from_raw(handle) });
        failure
    })
}

/// Writes a result through `out`; gives it back if that is NULL.
///
/// # Safety
/// `out` is NULL or C's place for a `T`, which need not be initialized.
pub unsafe fn put<T>(out: *mut T, value: T) -> Result<(), (Failure, T)> {
    if out.is_null() {
        return Err((Failure::argument("the place for the result is NULL"), value));
    }
    // SAFETY: as the caller says.
    unsafe { out.write(value) };
    Ok(())
}

/// C's bytes; whatever the pointer is, no bytes are an empty slice.
///
/// # Safety
/// `text.data` is readable for `text.len` bytes, and stays so while the slice is used.
pub unsafe fn as_bytes<'a>(text: tocsin_str) -> Result<&'a [u8], Failure> {
    // SAFETY: as the caller says.
    unsafe { as_slice(text.data.cast(), text.len) }
}

/// C's array.
///
/// # Safety
/// As for [`as_bytes`], for `count` items.
pub unsafe fn as_slice<'a, T>(data: *const T, count: usize) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(Failure::argument("a pointer is NULL where its length is not 0"));
    }
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Failure::argument("a length is larger than memory"));
    }
    // SAFETY: as the caller says; neither NULL nor too long.
    Ok(unsafe { std::slice::from_raw_parts(data, count) })
}

/// C's text, checked to be UTF-8.
///
/// # Safety
/// As for [`as_bytes`].
pub unsafe fn as_text<'a>(text: tocsin_str) -> Result<&'a str, Failure> {
    // SAFETY: as the caller says.
    std::str::from_utf8(unsafe { as_bytes(text) }?)
        .map_err(|error| Failure::argument(format!("a text is not UTF-8; its first {} bytes are", error.valid_up_to())))
}

/// Largest `struct_size` that is believed.
const LARGEST_STRUCT: usize = 4096;

/// Reads a struct whose first member says how large C thinks it is: what C does not know of is zero, and what we do not
/// know of must be.
///
/// # Safety
/// `from` is NULL or readable for `struct_size` bytes. `T` begins with that `usize`, and all zeros are a `T`.
pub unsafe fn read_struct<T: Copy>(from: *const T) -> Result<T, Failure> {
    if from.is_null() {
        return Err(Failure::argument("a struct is NULL"));
    }
    // SAFETY: every such struct begins with its size.
    let size = unsafe { from.cast::<usize>().read() };
    if !(size_of::<usize>()..=LARGEST_STRUCT).contains(&size) {
        return Err(Failure::argument(format!("struct_size is {size}; set it to the size of the struct")));
    }
    // SAFETY: readable for so many bytes, as the caller says.
    let bytes = unsafe { as_slice(from.cast::<u8>(), size) }?;
    let known = size.min(size_of::<T>());
    if bytes[known..].iter().any(|byte| *byte != 0) {
        return Err(Failure::argument("a struct has members set that this version of tocsin does not know"));
    }
    let mut read = std::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: both are valid for `known` bytes, and `read` is a `T` of its own; zeros and C's members make a `T`.
    unsafe {
        read.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), known);
        Ok(read.assume_init())
    }
}

/// The process that a handle belongs to. Threads do not survive a fork, so neither does anything that has some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// This one.
    pub fn current() -> Process {
        Process(std::process::id())
    }

    /// Refuses a handle that a forked child inherited; call it before anything that locks.
    pub fn check(self) -> Result<(), Failure> {
        if self == Process::current() { Ok(()) } else { Err(Failure::forked()) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::foreign::Foreign;
    use crate::library::{TOCSIN_STATUS_INVALID_ARGUMENT, TOCSIN_STATUS_PANIC};

    #[test]
    fn panics_stay_inside() {
        let mut error = std::ptr::null_mut();
        std::panic::set_hook(Box::new(|_| {}));
        let status = guard(&raw mut error, || panic!("a bug"));
        assert_eq!(guard_value(7, || panic!("a bug")), 7);
        guard_void(|| panic!("a bug"));
        drop(std::panic::take_hook());
        assert_eq!(status, TOCSIN_STATUS_PANIC);
        // SAFETY: made by `guard` just now.
        let error = unsafe { take(error) }.unwrap();
        assert_eq!(error.0.status(), TOCSIN_STATUS_PANIC);
        assert_eq!(guard(std::ptr::null_mut(), || Err(Failure::timeout())), Failure::timeout().status());
    }

    #[test]
    fn no_bytes_need_no_pointer() {
        for data in [std::ptr::null(), std::ptr::dangling()] {
            // SAFETY: no bytes.
            assert_eq!(unsafe { as_text(tocsin_str { data, len: 0 }) }.unwrap(), "");
        }
        // SAFETY: refused before it is read.
        let refused = unsafe { as_text(tocsin_str { data: std::ptr::null(), len: 1 }) };
        assert_eq!(refused.unwrap_err().status(), TOCSIN_STATUS_INVALID_ARGUMENT);
    }

    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Grown {
        struct_size: usize,
        old: u32,
        new: u32,
    }

    #[repr(C)]
    struct Newer {
        known: Grown,
        tail: u64,
    }

    #[test]
    fn structs_may_be_older_and_newer() {
        let all = Grown { struct_size: size_of::<Grown>(), old: 1, new: 2 };
        let older = Grown { struct_size: size_of::<usize>() + 4, ..all };
        // SAFETY: they are as large as they say.
        let (read, cut) = unsafe { (read_struct(&raw const all).unwrap(), read_struct(&raw const older).unwrap()) };
        assert_eq!((read, cut.old, cut.new), (all, 1, 0));
        for (tail, fits) in [(0, true), (1, false)] {
            let newer = Newer { known: Grown { struct_size: size_of::<Newer>(), ..all }, tail };
            // SAFETY: the tail is part of it.
            assert_eq!(unsafe { read_struct((&raw const newer).cast::<Grown>()) }.is_ok(), fits);
        }
    }

    #[test]
    fn foreign_is_dropped_once() {
        unsafe extern "C" fn count(data: *mut std::ffi::c_void) {
            // SAFETY: the test's counter.
            unsafe { &*data.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
        }
        let drops = AtomicUsize::new(0);
        let foreign = Foreign::new((&raw const drops).cast_mut().cast(), Some(count));
        assert_eq!(drops.load(Ordering::Relaxed), 0);
        drop(foreign);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    }
}
