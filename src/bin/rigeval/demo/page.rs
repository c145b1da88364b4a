//! The page that shows what the demo made.

use super::{Act, Devices, plot};
use std::fmt::Write;

pub const FILE: &str = "index.html";

const STYLE: &str = "
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #22262b; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
img { width: 100%; height: auto; border-radius: 6px; display: block; }
figure { margin: 1rem 0 2rem; } figcaption { color: #59616b; margin-top: .4rem; }
table { border-collapse: collapse; } th { text-align: left; font-weight: 600; padding: .15rem 1.2rem .15rem 0; }
li { margin: .2rem 0; } code { background: #eef0f2; padding: .1rem .3rem; border-radius: 3px; overflow-wrap: anywhere; }
";

/// One HTML file beside the pictures; it fetches nothing from elsewhere.
pub fn page(acts: &[Act], devices: &Devices) -> Vec<u8> {
    let mut html = String::from("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    let mut put = |text: std::fmt::Arguments| writeln!(html, "{text}").expect("a string takes all text");
    put(format_args!("<meta name=\"viewport\" content=\"width=device-width\">"));
    put(format_args!("<title>rigeval demo</title>\n<style>{STYLE}</style>"));
    put(format_args!("<h1>Two rigs, one performance</h1>"));
    put(format_args!(
        "<p>The same ARKit weights drive a GNM head and a glTF file. What is measured here, was measured on this machine.</p>"
    ));
    for act in acts {
        put(format_args!("<h2><code>{}</code></h2>\n<ul>", act.kind));
        for line in &act.lines {
            put(format_args!("<li>{}</li>", escaped(line)));
        }
        put(format_args!("</ul>"));
        for (name, shows) in &act.pictures {
            let shows = escaped(shows);
            put(format_args!("<figure><img src=\"{name}\" alt=\"{shows}\"><figcaption>{shows}</figcaption></figure>"));
        }
        put(format_args!("<p><code>{}</code></p>", escaped(&act.advice)));
    }
    if devices.painter().is_none() {
        put(format_args!("<p>No pictures: there is no GPU adapter here, not even a software one.</p>"));
    }
    put(format_args!("<h2>Time of each frame</h2>"));
    let shows = "milliseconds of each frame over the seconds of the performance";
    put(format_args!("<figure><img src=\"{}\" alt=\"{shows}\"><figcaption>{shows}</figcaption></figure>", plot::FILE));
    put(format_args!("<h2>This machine</h2>\n<table>"));
    for (what, value) in facts(devices) {
        put(format_args!("<tr><th>{what}</th><td>{}</td></tr>", escaped(&value)));
    }
    put(format_args!("</table>"));
    html.into_bytes()
}

fn facts(devices: &Devices) -> Vec<(&'static str, String)> {
    let threads = std::thread::available_parallelism().map_or("unknown".to_string(), |n| n.to_string());
    let mut facts = vec![
        ("rigeval", env!("CARGO_PKG_VERSION").to_string()),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("processor", processor().unwrap_or_else(|| "unknown".into())),
        ("threads", threads),
        ("performed on", devices.chosen.describe()),
    ];
    if let Some(gpu) = devices.painter() {
        let facts_of = gpu.facts();
        let kind = if facts_of.is_software { "software" } else { "hardware" };
        facts.push(("drawn by", format!("{} ({}, {kind}, {})", facts_of.name, facts_of.backend, facts_of.driver)));
    }
    facts
}

/// As Linux names it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_string())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
