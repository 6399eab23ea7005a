//! `bench COMMAND…`: starts a server on stdio, and prints calls per second, latency, and how fast changes fan out.
//!
//! Times depend on the machine; compare servers within one run. Every answer is checked.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

type Failure = Box<dyn std::error::Error>;

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Server {
    fn start(command: &str) -> Result<Server, Failure> {
        let mut child = Command::new("sh")
            .args(["-c", &format!("exec {command}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take().ok_or("no stdin")?;
        let output = BufReader::with_capacity(1 << 16, child.stdout.take().ok_or("no stdout")?);
        Ok(Server { child, input, output, line: Vec::new() })
    }

    fn next(&mut self) -> Result<&[u8], Failure> {
        self.line.clear();
        if self.output.read_until(b'\n', &mut self.line)? == 0 {
            return Err("the server ended".into());
        }
        Ok(&self.line)
    }

    /// Resident memory in bytes.
    fn memory(&self) -> Result<u64, Failure> {
        let mut status = String::new();
        std::fs::File::open(format!("/proc/{}/status", self.child.id()))?.read_to_string(&mut status)?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
        Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse::<u64>()? * 1024)
    }

    fn stop(mut self) -> Result<(), Failure> {
        drop(self.input);
        self.child.wait()?;
        Ok(())
    }
}

fn call(id: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello {id}"}},{META}}}}}"#
    ) + "\n"
}

fn check(line: &[u8], id: Option<usize>) -> Result<usize, Failure> {
    let answer: serde_json::Value = serde_json::from_slice(line)?;
    let got = answer["id"].as_u64().ok_or("an answer without id")? as usize;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    if text != format!("hello {got}") || id.is_some_and(|id| id != got) {
        return Err(format!("a wrong answer: {answer}").into());
    }
    Ok(got)
}

/// Calls one after the other: the median latency in microseconds.
fn latency(server: &mut Server, calls: usize) -> Result<f64, Failure> {
    let mut times = Vec::with_capacity(calls);
    for id in 0..calls {
        let start = Instant::now();
        server.input.write_all(call(id).as_bytes())?;
        server.next()?;
        times.push(start.elapsed());
        check(&server.line, Some(id))?;
    }
    times.sort_unstable();
    Ok(times[times.len() / 2].as_secs_f64() * 1e6)
}

/// Calls with `window` in flight: calls per second.
fn throughput(server: &mut Server, window: usize, calls: usize) -> Result<f64, Failure> {
    let start = Instant::now();
    let (mut sent, mut answers) = (0, Vec::with_capacity(calls));
    while answers.len() < calls {
        let mut batch = String::new();
        while sent < calls && sent - answers.len() < window {
            batch.push_str(&call(sent));
            sent += 1;
        }
        server.input.write_all(batch.as_bytes())?;
        // One answer at least; then all that came with it.
        loop {
            let line = server.next()?.to_vec();
            answers.push(line);
            if answers.len() == sent || !server.output.buffer().contains(&b'\n') {
                break;
            }
        }
    }
    let rate = calls as f64 / start.elapsed().as_secs_f64();
    let mut seen = vec![false; calls];
    for line in &answers {
        seen[check(line, None)?] = true;
    }
    if seen.contains(&false) {
        return Err("an answer is missing".into());
    }
    Ok(rate)
}

/// Opens subscriptions, edits once, and waits until all are told: milliseconds, and bytes of memory for each.
fn fan_out(server: &mut Server, subscriptions: usize) -> Result<(f64, f64), Failure> {
    let before = server.memory()?;
    for id in 0..subscriptions {
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":"s{id}","method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},{META}}}}}"#
        );
        server.input.write_all(request.as_bytes())?;
        server.input.write_all(b"\n")?;
        server.next()?;
    }
    let each = server.memory()?.saturating_sub(before) as f64 / subscriptions as f64;
    let mut times = Vec::new();
    for round in 0..21 {
        let (tool, id) = (if round % 2 == 0 { "add_tool" } else { "remove_tool" }, format!("e{round}"));
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"{tool}","arguments":{{"name":"bench_tool"}},{META}}}}}"#
        );
        let start = Instant::now();
        server.input.write_all((request + "\n").as_bytes())?;
        let (mut told, mut answered, mut last) = (0, false, Duration::ZERO);
        while told < subscriptions || !answered {
            let line = server.next()?;
            if line.windows(12).any(|part| part == b"list_changed") {
                told += 1;
                last = start.elapsed();
            } else {
                answered = true;
            }
        }
        times.push(last);
    }
    times.sort_unstable();
    Ok((times[times.len() / 2].as_secs_f64() * 1e3, each))
}

/// From the start of the process to its first answer, in milliseconds.
fn cold_start(command: &str) -> Result<f64, Failure> {
    let mut times = Vec::new();
    for _ in 0..11 {
        let start = Instant::now();
        let mut server = Server::start(command)?;
        server.input.write_all(call(1).as_bytes())?;
        server.next()?;
        times.push(start.elapsed());
        check(&server.line, Some(1))?;
        server.stop()?;
    }
    times.sort_unstable();
    Ok(times[times.len() / 2].as_secs_f64() * 1e3)
}

fn main() -> Result<(), Failure> {
    println!(
        "| server | one at a time, p50 | 64 in flight | cold start | 1,000 listens, edit to last | memory per listen |"
    );
    println!("|---|---|---|---|---|---|");
    for command in std::env::args().skip(1) {
        let cold = cold_start(&command)?;
        let mut server = Server::start(&format!("{command} --max-subscriptions 0"))?;
        latency(&mut server, 500)?;
        let one = latency(&mut server, 3_000)?;
        let mut rates = Vec::new();
        for _ in 0..5 {
            rates.push(throughput(&mut server, 64, 50_000)?);
        }
        rates.sort_by(f64::total_cmp);
        let (last, each) = fan_out(&mut server, 1_000)?;
        server.stop()?;
        println!(
            "| `{command}` | {one:.0} µs | {:.0} calls/s | {cold:.1} ms | {last:.2} ms | {:.1} KiB |",
            rates[2],
            each / 1024.0
        );
    }
    Ok(())
}
