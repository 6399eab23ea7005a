//! C's pointers, kept.

use std::ffi::c_void;

use crate::library::tocsin_drop_fn;

/// A `user_data` and its `drop`. Made on the first line of the function that takes them, so that the one is dropped
/// exactly once on every path.
pub struct Foreign {
    data: *mut c_void,
    drop: tocsin_drop_fn,
}

// SAFETY: the header says that callbacks and drops run on any thread; C gave the pointer away on that condition.
unsafe impl Send for Foreign {}
// SAFETY: as above; the library itself never looks at what the pointer points to.
unsafe impl Sync for Foreign {}

impl Foreign {
    pub fn new(data: *mut c_void, drop: tocsin_drop_fn) -> Foreign {
        Foreign { data, drop }
    }

    /// The pointer, for a callback.
    pub fn data(&self) -> *mut c_void {
        self.data
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(drop) = self.drop {
            // SAFETY: C's own function on C's own pointer, once.
            unsafe { drop(self.data) };
        }
    }
}
