//! The C ABI of tocsin.
