//! The fitted ARKit-to-GNM table: `arkit_to_gnm.bin` and the descriptor `face.arkit` beside it.

use super::arkit::{ArkitColumns, ArkitShape};
use super::map::Term;
use crate::error::{LoadError, LoadErrorKind};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The descriptor's fields that are read; `src` is the caller's matter, `blinks` does not take part.
#[derive(Deserialize)]
struct Descriptor {
    sha256: String,
    bytes: usize,
    coeffs: usize,
    channels: Vec<String>,
    pairs: Vec<[usize; 2]>,
    gaze: BTreeMap<String, GazeEntry>,
}

#[derive(Deserialize)]
struct GazeEntry {
    eye: Eye,
    axis: Axis,
    radians: f32,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Eye {
    Left,
    Right,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Axis {
    Pitch,
    Yaw,
}

/// What a row of the table is multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factor<T> {
    /// A weight as it comes.
    Linear(T),
    /// The product of two weights, each within 0..1: what the two shapes do together and neither does alone.
    Pair(T, T),
}

/// A table fitted to one head's expression space: a row for each shape and for each pair of shapes, and the gaze.
///
/// `coefficients = sum_i w_i A_i + sum_k clamp(w_i, 0, 1) clamp(w_j, 0, 1) C_k`; a gaze angle is the sum of `clamp(w, 0, 1) * radians`.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedTable {
    coefficient_count: usize,
    factors: Vec<Factor<ArkitShape>>,
    rows: Vec<f32>,
    gaze: Vec<(ArkitShape, usize, f32)>,
    dropped: Vec<String>,
}

impl FittedTable {
    /// Reads the descriptor's JSON and the table's bytes, for a rig with this many expression coefficients.
    ///
    /// Channels that are no ARKit shape are dropped, and the pairs and gazes that need them; [`FittedTable::dropped`] names them.
    ///
    /// # Shapes
    /// bytes: (channels + pairs, E) little-endian f32
    ///
    /// # Errors
    /// `Version`; `Shape` for another number of coefficients than the rig has; `Truncated` for another byte length than the rows need; `Corrupt` for
    /// another SHA-256 or a shape named twice; `Value` for a pair of channels that are not there or a number that is not finite; `Format` and `Type` for JSON
    /// that is none or is another.
    pub fn read(descriptor: &[u8], bytes: &[u8], expression_dim: usize) -> Result<FittedTable, LoadError> {
        let descriptor = parse(descriptor)?;
        check_size(&descriptor, bytes, expression_dim)?;
        check_hash(&descriptor.sha256, bytes)?;

        let mut dropped = Vec::new();
        let shapes = channel_shapes(&descriptor.channels, &mut dropped)?;
        let mut factors: Vec<Option<Factor<ArkitShape>>> = shapes.iter().map(|s| s.map(Factor::Linear)).collect();
        for (index, &[i, j]) in descriptor.pairs.iter().enumerate() {
            let (Some(&a), Some(&b)) = (shapes.get(i), shapes.get(j)) else {
                let expected = format!("two channels below {}", shapes.len());
                return Err(refused(
                    LoadErrorKind::Value,
                    &format!("pairs[{index}]"),
                    expected,
                    format!("{i} and {j}"),
                ));
            };
            factors.push(a.zip(b).map(|(a, b)| Factor::Pair(a, b)));
            if a.is_none() || b.is_none() {
                dropped.push(format!("the pair of {} and {}", descriptor.channels[i], descriptor.channels[j]));
            }
        }
        let rows = kept_rows(bytes, &factors, expression_dim)?;
        let gaze = gaze_terms(&descriptor.gaze, &mut dropped)?;
        let factors = factors.into_iter().flatten().collect();
        Ok(FittedTable { coefficient_count: expression_dim, factors, rows, gaze, dropped })
    }

    /// E, the coefficients of the rig that this was fitted to.
    #[must_use]
    pub fn coefficient_count(&self) -> usize {
        self.coefficient_count
    }

    /// The channels of the file that are no ARKit shape, and the pairs and gazes that went with them.
    #[must_use]
    pub fn dropped(&self) -> &[String] {
        &self.dropped
    }

    /// The table with its shapes bound to columns; a row or gaze whose shape has no column never counts, since an absent weight is 0.
    pub(super) fn bind(&self, columns: &ArkitColumns) -> BoundTable {
        let mut bound =
            BoundTable { width: self.coefficient_count, factors: Vec::new(), rows: Vec::new(), gaze: Vec::new() };
        for (factor, row) in self.factors.iter().zip(self.rows.chunks_exact(self.coefficient_count)) {
            let factor = match *factor {
                Factor::Linear(shape) => columns.column(shape).map(Factor::Linear),
                Factor::Pair(a, b) => columns.column(a).zip(columns.column(b)).map(|(a, b)| Factor::Pair(a, b)),
            };
            if let Some(factor) = factor {
                bound.factors.push(factor);
                bound.rows.extend_from_slice(row);
            }
        }
        let gaze = self.gaze.iter().filter_map(|&(shape, angle, gain)| {
            Some(Term { column: columns.column(shape)?, slot: self.coefficient_count + angle, gain })
        });
        bound.gaze = gaze.collect();
        bound
    }
}

/// A table that reads columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BoundTable {
    width: usize,
    factors: Vec<Factor<usize>>,
    rows: Vec<f32>,
    gaze: Vec<Term>,
}

impl BoundTable {
    /// Adds what these weights give to `controls`, (E + 4).
    pub(super) fn add(&self, weights: &[f32], controls: &mut [f32]) {
        let clamped = |column: usize| weights[column].clamp(0.0, 1.0);
        for (factor, row) in self.factors.iter().zip(self.rows.chunks_exact(self.width)) {
            let factor = match *factor {
                Factor::Linear(column) => weights[column],
                Factor::Pair(a, b) => clamped(a) * clamped(b),
            };
            if factor != 0.0 {
                for (control, value) in controls.iter_mut().zip(row) {
                    *control += factor * value;
                }
            }
        }
        Term::add_all(&self.gaze, weights, controls);
    }
}

fn refused(
    kind: LoadErrorKind,
    field: &str,
    expected: impl std::fmt::Display,
    found: impl std::fmt::Display,
) -> LoadError {
    LoadError::new(kind, format!("face.arkit.{field}"), expected, found)
}

fn parse(json: &[u8]) -> Result<Descriptor, LoadError> {
    let format = |error| LoadError::new(LoadErrorKind::Format, "face.arkit", "a JSON object", error);
    let value: serde_json::Value = serde_json::from_slice(json).map_err(|e| format(e.to_string()))?;
    let Some(object) = value.as_object() else { return Err(format(value.to_string())) };
    // The version is looked at first: what another one means by the other fields is not known.
    match object.get("version") {
        Some(version) if version.as_u64() == Some(1) => {}
        Some(version) => return Err(refused(LoadErrorKind::Version, "version", 1, version)),
        None => return Err(refused(LoadErrorKind::Missing, "version", 1, "none")),
    }
    for field in ["sha256", "bytes", "coeffs", "channels", "pairs", "gaze"] {
        if !object.contains_key(field) {
            return Err(refused(LoadErrorKind::Missing, field, "a value", "none"));
        }
    }
    serde_json::from_value(value)
        .map_err(|e| LoadError::new(LoadErrorKind::Type, "face.arkit", "the fields of version 1", e))
}

fn check_size(descriptor: &Descriptor, bytes: &[u8], expression_dim: usize) -> Result<(), LoadError> {
    let coefficients = descriptor.coeffs;
    if coefficients != expression_dim || coefficients == 0 {
        let expected = format!("{expression_dim}, the rig's expression coefficients");
        return Err(refused(LoadErrorKind::Shape, "coeffs", expected, coefficients));
    }
    let row_count = descriptor.channels.len() + descriptor.pairs.len();
    let needed = row_count.checked_mul(coefficients).and_then(|n| n.checked_mul(size_of::<f32>()));
    let expected = || format!("{row_count} rows of {coefficients} f32");
    if needed != Some(bytes.len()) {
        return Err(LoadError::new(
            LoadErrorKind::Truncated,
            "arkit_to_gnm.bin",
            expected(),
            format!("{} bytes", bytes.len()),
        ));
    }
    if descriptor.bytes != bytes.len() {
        return Err(refused(LoadErrorKind::Truncated, "bytes", bytes.len(), descriptor.bytes));
    }
    Ok(())
}

fn check_hash(stated: &str, bytes: &[u8]) -> Result<(), LoadError> {
    let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if hash.eq_ignore_ascii_case(stated) {
        return Ok(());
    }
    Err(LoadError::new(LoadErrorKind::Corrupt, "arkit_to_gnm.bin", format!("SHA-256 {stated}"), hash))
}

/// The shape of each channel, nothing for a name that is no shape.
fn channel_shapes(channels: &[String], dropped: &mut Vec<String>) -> Result<Vec<Option<ArkitShape>>, LoadError> {
    let mut seen = [false; 52];
    let mut shapes = Vec::with_capacity(channels.len());
    for (index, name) in channels.iter().enumerate() {
        let shape = ArkitShape::parse(name);
        match shape {
            Some(shape) if std::mem::replace(&mut seen[shape as usize], true) => {
                let field = format!("channels[{index}]");
                return Err(refused(LoadErrorKind::Corrupt, &field, "each shape once", format!("\"{name}\" again")));
            }
            Some(_) => {}
            None => dropped.push(format!("the channel {name}")),
        }
        shapes.push(shape);
    }
    Ok(shapes)
}

/// The rows that have a factor. All numbers are checked, those of dropped rows too: a NaN means that the file is not what it says.
fn kept_rows(bytes: &[u8], factors: &[Option<Factor<ArkitShape>>], width: usize) -> Result<Vec<f32>, LoadError> {
    let mut rows = Vec::with_capacity(factors.iter().flatten().count() * width);
    for (index, (row, factor)) in bytes.chunks_exact(width * size_of::<f32>()).zip(factors).enumerate() {
        for (column, bytes) in row.chunks_exact(size_of::<f32>()).enumerate() {
            let value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            if !value.is_finite() {
                let field = format!("arkit_to_gnm.bin[{index}][{column}]");
                return Err(LoadError::new(LoadErrorKind::Value, field, "a finite number", value));
            }
            if factor.is_some() {
                rows.push(value);
            }
        }
    }
    Ok(rows)
}

/// Shape, angle as an offset from the first gaze control, gain. The file's pitch is positive upward, a control's downward.
fn gaze_terms(
    gaze: &BTreeMap<String, GazeEntry>,
    dropped: &mut Vec<String>,
) -> Result<Vec<(ArkitShape, usize, f32)>, LoadError> {
    let mut terms: Vec<(ArkitShape, usize, f32)> = Vec::with_capacity(gaze.len());
    for (name, entry) in gaze {
        if !entry.radians.is_finite() {
            return Err(refused(
                LoadErrorKind::Value,
                &format!("gaze.{name}.radians"),
                "a finite number",
                entry.radians,
            ));
        }
        let Some(shape) = ArkitShape::parse(name) else {
            dropped.push(format!("the gaze of {name}"));
            continue;
        };
        if terms.iter().any(|term| term.0 == shape) {
            return Err(refused(LoadErrorKind::Corrupt, "gaze", "each shape once", format!("\"{name}\" again")));
        }
        let angle = 2 * usize::from(entry.eye == Eye::Right) + usize::from(entry.axis == Axis::Yaw);
        let gain = if entry.axis == Axis::Pitch { -entry.radians } else { entry.radians };
        terms.push((shape, angle, gain));
    }
    Ok(terms)
}

#[cfg(test)]
mod tests {
    use super::super::arkit::ArkitOrder;
    use super::*;
    use serde_json::{Value, json};

    const E: usize = 3;

    /// A table whose numbers count up from 1.
    fn table(channels: &[&str], pairs: &[[usize; 2]]) -> (Value, Vec<u8>) {
        let values = (0..(channels.len() + pairs.len()) * E).map(|i| i as f32 + 1.0);
        let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        let gaze = json!({
            "eyeLookUpLeft": { "eye": "left", "axis": "pitch", "radians": 0.25 },
            "EYELOOKINRIGHT": { "eye": "right", "axis": "yaw", "radians": 0.5 },
        });
        (descriptor(&bytes, json!(channels), json!(pairs), gaze), bytes)
    }

    fn descriptor(bytes: &[u8], channels: Value, pairs: Value, gaze: Value) -> Value {
        let hash: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
        json!({
            "src": "arkit_to_gnm.bin", "sha256": hash, "bytes": bytes.len(), "version": 1, "coeffs": E,
            "channels": channels, "pairs": pairs, "gaze": gaze, "blinks": [],
        })
    }

    fn read(descriptor: &Value, bytes: &[u8]) -> Result<FittedTable, LoadError> {
        FittedTable::read(descriptor.to_string().as_bytes(), bytes, E)
    }

    fn controls(table: &FittedTable, weights: &[(ArkitShape, f32)]) -> Vec<f32> {
        let columns = ArkitColumns::of(ArkitOrder::Alphabetical);
        let mut vector = vec![0.0; 52];
        for &(shape, weight) in weights {
            vector[columns.column(shape).unwrap()] = weight;
        }
        let mut controls = vec![0.0; E + 4];
        table.bind(&columns).add(&vector, &mut controls);
        controls
    }

    #[test]
    fn linear_part_is_unclamped_and_pairs_are_clamped() {
        // Rows: jawOpen 1 2 3, mouthClose 4 5 6, their pair 7 8 9, jawOpen squared 10 11 12.
        let (descriptor, bytes) = table(&["JAWOPEN", "mouthClose"], &[[0, 1], [0, 0]]);
        let table = read(&descriptor, &bytes).unwrap();
        assert!(table.dropped().is_empty());
        let (jaw, mouth) = (ArkitShape::JawOpen, ArkitShape::MouthClose);
        assert_eq!(controls(&table, &[(mouth, 0.5)])[..3], [2.0, 2.5, 3.0]);
        assert_eq!(controls(&table, &[(mouth, -1.0)])[..3], [-4.0, -5.0, -6.0]);
        // 2 * 1 + 0.5 * 4 + (1 * 0.5) * 7 + (1 * 1) * 10 = 17.5, and so on.
        assert_eq!(controls(&table, &[(jaw, 2.0), (mouth, 0.5)])[..3], [17.5, 21.5, 25.5]);
        // 1 - 4 + 0 + 10: a negative weight leaves its pair out.
        assert_eq!(controls(&table, &[(jaw, 1.0), (mouth, -1.0)])[..3], [7.0, 8.0, 9.0]);
    }

    #[test]
    fn gaze_pitch_is_negated_and_clamped() {
        let (descriptor, bytes) = table(&["jawOpen"], &[]);
        let table = read(&descriptor, &bytes).unwrap();
        let (up, inward) = (ArkitShape::EyeLookUpLeft, ArkitShape::EyeLookInRight);
        assert_eq!(controls(&table, &[(up, 0.5), (inward, 0.5)])[3..], [-0.125, 0.0, 0.0, 0.25]);
        assert_eq!(controls(&table, &[(up, 3.0), (inward, -1.0)])[3..], [-0.25, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn unknown_channel_goes_with_its_pairs_and_the_rest_stays() {
        let (mut descriptor, bytes) = table(&["browMidUp", "jawOpen"], &[[0, 1], [1, 1]]);
        descriptor["gaze"]["eyeRoll"] = json!({ "eye": "left", "axis": "yaw", "radians": 1.0 });
        let table = read(&descriptor, &bytes).unwrap();
        let expected = ["the channel browMidUp", "the pair of browMidUp and jawOpen", "the gaze of eyeRoll"];
        assert_eq!(table.dropped(), expected);
        // Rows 1 (4 5 6) and 3 (10 11 12) are left.
        assert_eq!(controls(&table, &[(ArkitShape::JawOpen, 1.0)])[..3], [14.0, 16.0, 18.0]);
    }

    #[test]
    fn columns_without_a_shape_leave_its_rows_out() {
        let (descriptor, bytes) = table(&["jawOpen", "mouthClose"], &[[0, 1]]);
        let bound = read(&descriptor, &bytes).unwrap().bind(&ArkitColumns::new(&["mouthClose"]).unwrap());
        let mut controls = [0.0; E + 4];
        bound.add(&[1.0], &mut controls);
        assert_eq!(controls, [4.0, 5.0, 6.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn each_wrong_field_is_refused() {
        let (good, bytes) = table(&["jawOpen", "mouthClose"], &[[0, 1]]);
        read(&good, &bytes).unwrap();
        let zero_hash = "0".repeat(64);
        let cases: [(&str, Value, LoadErrorKind); 16] = [
            ("version", json!(2), LoadErrorKind::Version),
            ("version", json!("1"), LoadErrorKind::Version),
            ("coeffs", json!(383), LoadErrorKind::Shape),
            ("coeffs", json!(-3), LoadErrorKind::Type),
            ("bytes", json!(35), LoadErrorKind::Truncated),
            ("sha256", json!(zero_hash), LoadErrorKind::Corrupt),
            ("sha256", json!(null), LoadErrorKind::Type),
            ("channels", json!(["jawOpen"]), LoadErrorKind::Truncated),
            ("channels", json!(["jawOpen", "JawOpen"]), LoadErrorKind::Corrupt),
            ("pairs", json!([[0, 2]]), LoadErrorKind::Value),
            ("pairs", json!([[0]]), LoadErrorKind::Type),
            ("pairs", json!([[0, -1]]), LoadErrorKind::Type),
            ("gaze", json!([]), LoadErrorKind::Type),
            ("gaze", json!({ "eyeLookUpLeft": { "eye": "middle", "axis": "yaw", "radians": 1 } }), LoadErrorKind::Type),
            (
                "gaze",
                json!({ "eyeLookUpLeft": { "eye": "left", "axis": "yaw", "radians": 1e39 } }),
                LoadErrorKind::Value,
            ),
            (
                "gaze",
                json!({
                    "eyeLookUpLeft": { "eye": "left", "axis": "yaw", "radians": 1 },
                    "eyeLookUp_L": { "eye": "left", "axis": "yaw", "radians": 1 },
                }),
                LoadErrorKind::Corrupt,
            ),
        ];
        for (field, value, kind) in cases {
            let mut bad = good.clone();
            bad[field] = value;
            let error = read(&bad, &bytes).unwrap_err();
            assert_eq!(error.kind, kind, "{field}: {error}");
        }
        for field in ["version", "sha256", "bytes", "coeffs", "channels", "pairs", "gaze"] {
            let mut bad = good.clone();
            bad.as_object_mut().unwrap().remove(field);
            assert_eq!(read(&bad, &bytes).unwrap_err().kind, LoadErrorKind::Missing, "{field}");
        }
    }

    #[test]
    fn truncated_table_and_descriptor_are_rejected() {
        let (descriptor, bytes) = table(&["jawOpen", "mouthClose"], &[[0, 1]]);
        for length in 0..bytes.len() {
            assert_eq!(read(&descriptor, &bytes[..length]).unwrap_err().kind, LoadErrorKind::Truncated, "{length}");
        }
        let text = descriptor.to_string();
        for length in 0..text.len() {
            let error = FittedTable::read(&text.as_bytes()[..length], &bytes, E).unwrap_err();
            assert_eq!(error.kind, LoadErrorKind::Format, "{length}");
        }
    }

    #[test]
    fn number_that_is_not_finite_is_refused_even_in_a_dropped_row() {
        for bad in [f32::NAN, f32::INFINITY] {
            let mut bytes: Vec<u8> = [1.0f32; 2 * E].iter().flat_map(|v| v.to_le_bytes()).collect();
            bytes[4..8].copy_from_slice(&bad.to_le_bytes());
            let descriptor = descriptor(&bytes, json!(["browMidUp", "jawOpen"]), json!([]), json!({}));
            let error = read(&descriptor, &bytes).unwrap_err();
            assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Value, "arkit_to_gnm.bin[0][1]"));
        }
    }
}
