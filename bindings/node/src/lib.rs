//! The native half of the Node package.
