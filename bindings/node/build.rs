//! Links the addon.

fn main() {
    napi_build::setup();
    // A worker that ends would unload the library under the engine's threads.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
