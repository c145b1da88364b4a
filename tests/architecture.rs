//! The import rules of ARCHITECTURE.md, read off the `use crate::` lines: data runs forward, and no rig knows another.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What each part may use beside itself. A part is a file or folder under `src/`; in a rig's room `gpu` and the CPU evaluators are parts of their own.
const RULES: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("math", &["error"]),
    ("control_names", &[]),
    ("npy", &["error", "math", "files"]),
    ("files", &["error", "math"]),
    ("info", &["error", "math", "skeleton"]),
    ("skeleton", &["error", "math", "info"]),
    ("lbs", &["error", "math"]),
    ("normals", &["error", "math"]),
    ("sparse", &["error", "math"]),
    ("head", &["error", "math"]),
    ("backend", &["info", "skeleton", "math", "error"]),
    ("gpu", &["backend", "info", "skeleton", "lbs", "normals", "sparse", "math", "error"]),
    ("picture", &["backend", "info", "gpu", "math", "error"]),
    ("expression", &["npy", "files", "control_names", "error"]),
    ("frames", &["npy", "files", "info", "error"]),
    (
        "RIG",
        &["npy", "files", "control_names", "lbs", "sparse", "normals", "skeleton", "info", "head", "math", "error"],
    ),
    ("RIG/cpu", &["RIG", "lbs", "sparse", "normals", "skeleton", "info", "math", "error"]),
    ("RIG/fast", &["RIG", "lbs", "sparse", "normals", "skeleton", "info", "math", "error"]),
    ("RIG/gpu", &["RIG", "backend", "info", "gpu", "lbs", "normals", "sparse", "skeleton", "math", "error"]),
    ("scene", &["RIG", "RIG/gpu", "backend", "info", "gpu", "expression", "files", "error"]),
];

const RIGS: &[&str] = &["gnm", "orl", "gltf"];

fn source_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The rig's room and the part inside it that a path of modules names, e.g. `["gnm", "cpu"]` -> `("gnm", "RIG/cpu")`.
fn part(modules: &[&str]) -> (Option<String>, String) {
    let Some(&first) = modules.first() else { return (None, "lib".into()) };
    if !RIGS.contains(&first) {
        return (None, first.into());
    }
    let inner = match modules.get(1) {
        Some(&inner @ ("cpu" | "gpu" | "fast")) => format!("RIG/{inner}"),
        _ => "RIG".into(),
    };
    (Some(first.into()), inner)
}

/// Module paths that a source text uses, from `crate::a::b` and `super::b`, wherever they stand; test modules are left out.
fn uses(text: &str, own: &[&str]) -> BTreeSet<Vec<String>> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let code: String = code.lines().filter(|l| !l.trim_start().starts_with("//")).map(|l| format!("{l} ")).collect();
    let mut found = BTreeSet::new();
    for (marker, base) in [("crate::", &[][..]), ("super::", &own[..own.len().saturating_sub(1)])] {
        for (at, _) in code.match_indices(marker) {
            if code[..at].ends_with("super::") {
                continue;
            }
            let rest = &code[at + marker.len()..];
            let names: Vec<Vec<String>> = match rest.strip_prefix('{') {
                Some(group) => group.split(';').next().unwrap().split(',').map(first_names).collect(),
                None => vec![first_names(rest)],
            };
            for name in names {
                let mut path: Vec<String> = base.iter().map(|s| s.to_string()).collect();
                path.extend(name);
                path.truncate(2);
                found.insert(path);
            }
        }
    }
    found
}

fn first_names(text: &str) -> Vec<String> {
    text.trim()
        .split("::")
        .map(|s| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>())
        .take_while(|s| !s.is_empty())
        .take(2)
        .collect()
}

fn violations(own: &[&str], text: &str, modules: &BTreeSet<String>) -> Vec<String> {
    let (own_rig, own_part) = part(own);
    if matches!(own_part.as_str(), "lib" | "bin") {
        return Vec::new();
    }
    let Some((_, allowed)) = RULES.iter().find(|(name, _)| *name == own_part) else {
        return vec![format!("{}: no rule for part \"{own_part}\": add one", own.join("/"))];
    };
    let mut wrong = Vec::new();
    for used in uses(text, own) {
        let used: Vec<&str> = used.iter().map(String::as_str).collect();
        if used.first().is_none_or(|m| !modules.contains(*m)) {
            continue;
        }
        let (used_rig, used_part) = part(&used);
        let same_room = own_rig == used_rig || own_part == "scene";
        let own_use = used_part == own_part && own_rig == used_rig;
        if own_use || (same_room || used_rig.is_none()) && allowed.contains(&used_part.as_str()) {
            continue;
        }
        wrong.push(format!("{} uses {}", own.join("/"), used.join("::")));
    }
    wrong
}

#[test]
fn imports_follow_the_table() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&src, &mut files);
    let modules_of = |file: &Path| -> Vec<String> {
        let path = file.strip_prefix(&src).unwrap().with_extension("");
        let names = path.iter().map(|s| s.to_str().unwrap().to_string());
        names.filter(|n| n != "mod" && n != "lib").collect()
    };
    let modules: BTreeSet<String> = files.iter().filter_map(|f| modules_of(f).first().cloned()).collect();
    assert!(files.len() > 20, "only {} source files found", files.len());
    let mut wrong = Vec::new();
    for file in &files {
        let own = modules_of(file);
        let own: Vec<&str> = own.iter().map(String::as_str).collect();
        wrong.extend(violations(&own, &std::fs::read_to_string(file).unwrap(), &modules));
    }
    assert!(wrong.is_empty(), "imports against the table in ARCHITECTURE.md:\n{}", wrong.join("\n"));
}

#[test]
fn forbidden_imports_are_reported() {
    let modules = ["gnm", "orl", "gpu", "expression", "error", "math"].iter().map(|s| s.to_string()).collect();
    let cases: &[(&[&str], &str)] = &[
        (&["gnm", "gpu"], "use crate::gnm::cpu::gnm_blend;"),
        (&["gnm", "gpu"], "use super::cpu;"),
        (&["gnm", "pack"], "use crate::gpu::GpuContext;"),
        (&["gnm", "model"], "use crate::orl::model;"),
        (&["math"], "use crate::{error::LoadError, gnm};"),
        (&["math"], "fn f(x: crate::gnm::pack::GnmPack) {}"),
        (&["expression", "arkit"], "use crate::gnm::pack::Region;"),
    ];
    for (own, text) in cases {
        assert_eq!(violations(own, text, &modules).len(), 1, "{own:?}: {text}");
    }
    assert!(violations(&["gnm", "cpu"], "use super::pack::GnmPack; use crate::error::LoadError;", &modules).is_empty());
}

#[test]
fn wgpu_is_named_only_where_the_feature_is() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&src, &mut files);
    for file in files {
        let path = file.strip_prefix(&src).unwrap().to_str().unwrap().to_string();
        let allowed = ["lib.rs", "backend.rs", "scene.rs"].contains(&path.as_str())
            || path.starts_with("gpu/")
            || path.starts_with("picture/")
            || path.starts_with("bin/")
            || path.ends_with("/gpu.rs")
            || path.contains("/gpu/");
        let text = std::fs::read_to_string(&file).unwrap();
        let named = text.lines().any(|l| !l.trim_start().starts_with("//") && l.contains("wgpu::"));
        assert!(allowed || !named, "{path} names wgpu");
    }
}
