//! Link arguments of the shared library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtocsin.so.0");
    // Threads of ours may be running: the code must stay.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
