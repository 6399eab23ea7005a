//! The everything server in Rust: one of everything that MCP offers, with tocsin's public API alone.
//!
//! `own` has the tools of tests and benchmarks, `suite` what the public conformance suite asks for, `asks` the handlers
//! that ask the client something.

mod asks;
mod cli;
mod own;
mod suite;

use std::process::ExitCode;

use tocsin::Server;

fn main() -> ExitCode {
    // A panic of a handler is the engine's to report; standard error is for people.
    std::panic::set_hook(Box::new(|_| {}));
    let options = match cli::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => return refuse(&error),
    };
    match serve(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&error.to_string()),
    }
}

fn refuse(error: &str) -> ExitCode {
    eprintln!("everything-rust: {error}");
    ExitCode::from(2)
}

fn serve(options: tocsin::Options) -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::with_options(options)?;
    own::add(&server)?;
    suite::content(&server)?;
    suite::reporting(&server)?;
    asks::forms(&server)?;
    suite::schemas(&server)?;
    asks::streams(&server)?;
    suite::changes(&server)?;
    asks::rounds(&server)?;
    suite::prompts(&server)?;
    asks::prompt(&server)?;
    suite::resources(&server)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let _entered = runtime.enter();
    stop_on_signals(&server)?;
    let service = server.start_stdio()?;
    service.wait(None).unwrap_or(Ok(()))?;
    runtime.shutdown_background();
    Ok(())
}

/// The first SIGTERM or SIGINT stops gracefully, the second at once.
fn stop_on_signals(server: &Server) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let server = server.clone();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if server.is_stopping() {
                std::process::exit(0);
            }
            server.stop();
        }
    });
    Ok(())
}
