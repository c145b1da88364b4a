//! What the file says of a part's colour and gloss. No rig depends on it: whatever is odd about a material is taken as unsaid.

use super::document::fields;
use crate::info::Look;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The looks of a document's materials, textures aside.
pub(super) fn materials<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Look>, D::Error> {
    let materials = Box::<RawValue>::deserialize(deserializer)?;
    let materials: Vec<Box<RawValue>> = serde_json::from_str(materials.get()).unwrap_or_default();
    Ok(materials.iter().map(|material| look(material)).collect())
}

/// A primitive's material.
pub(super) fn material<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let index = Box::<RawValue>::deserialize(deserializer)?;
    let index = serde_json::from_str::<f64>(index.get()).ok();
    Ok(index.filter(|index| *index >= 0.0 && index.fract() == 0.0).map(|index| index as usize))
}

fn look(material: &RawValue) -> Look {
    // Only what is read is parsed: beside it may stand what no number holds, or nesting without end.
    let surface = fields(material).remove("pbrMetallicRoughness").map(|text| fields(&text)).unwrap_or_default();
    let value = |key: &str| -> Value {
        surface.get(key).and_then(|text| serde_json::from_str(text.get()).ok()).unwrap_or_default()
    };
    let factor = value("baseColorFactor");
    // What is out of range is missing too.
    let share = |value: &Value| value.as_f64().filter(|share| (0.0..=1.0).contains(share));
    let channel = |i: usize| share(&factor[i]);
    let [r, g, b] = match [channel(0), channel(1), channel(2)] {
        [Some(r), Some(g), Some(b)] => [r, g, b],
        _ => [1.0; 3],
    };
    let gloss = 1.0 - share(&value("roughnessFactor")).unwrap_or(1.0);
    Look { color: [r, g, b].map(|x| srgb_from_linear(x) as f32), gloss: gloss as f32 }
}

fn srgb_from_linear(x: f64) -> f64 {
    if x <= 0.003_130_8 { 12.92 * x } else { (1.055 * x.powf(1.0 / 2.4) - 0.055).min(1.0) }
}

/// The base colour, linear and opaque, and the roughness of a look.
pub(super) fn surface(look: &Look) -> ([f32; 4], f32) {
    let linear = |x: f32| {
        let x = f64::from(x);
        if x <= 0.040_45 { (x / 12.92) as f32 } else { ((x + 0.055) / 1.055).powf(2.4).min(1.0) as f32 }
    };
    let [r, g, b] = look.color.map(linear);
    ([r, g, b, 1.0], 1.0 - look.gloss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(material: &Value) -> Look {
        look(&RawValue::from_string(material.to_string()).unwrap())
    }

    #[test]
    fn look_comes_back_as_the_linear_colour() {
        for factor in [[0.0, 0.5, 1.0], [0.002, 0.003_130_8, 0.004], [0.25, 0.75, 0.1]] {
            let material = json!({"pbrMetallicRoughness":
                {"baseColorFactor": [factor[0], factor[1], factor[2], 0.5], "roughnessFactor": 0.25}});
            let ([r, g, b, alpha], roughness) = surface(&read(&material));
            for (got, want) in [r, g, b].into_iter().zip(factor) {
                assert!((f64::from(got) - want).abs() < 2e-6, "{got} for {want}");
            }
            assert_eq!((alpha, roughness), (1.0, 0.25));
        }
        assert!(
            (read(&json!({"pbrMetallicRoughness": {"baseColorFactor": [0.5, 0.5, 0.5, 1.0]}})).color[0] - 0.7354).abs()
                < 1e-4
        );
    }

    #[test]
    fn material_that_says_nothing_sound_is_white_and_matt() {
        let white = Look { color: [1.0; 3], gloss: 0.0 };
        for odd in [
            json!({}),
            json!(7),
            json!({"pbrMetallicRoughness": []}),
            json!({"pbrMetallicRoughness": {"baseColorFactor": [0.5, 0.5], "roughnessFactor": "x"}}),
            json!({"pbrMetallicRoughness": {"baseColorFactor": [0.5, 2.0, 0.5, 1.0], "roughnessFactor": -1}}),
        ] {
            assert_eq!(read(&odd), white, "{odd}");
        }
        let read = |text: &str| material(&mut serde_json::Deserializer::from_str(text)).unwrap();
        assert_eq!(
            (read("3"), read("3.0"), read("-1"), read("0.5"), read("\"3\"")),
            (Some(3), Some(3), None, None, None)
        );
        let none = materials(&mut serde_json::Deserializer::from_str("{}")).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn material_with_something_monstrous_in_it_keeps_its_colour() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let sound = "\"baseColorFactor\":[0,0,0,1],\"roughnessFactor\":0.5";
        let text = format!(
            "[{{\"extras\":{deep},\"pbrMetallicRoughness\":{{\"x\":1e999,{sound}}}}},{deep},1e999,{{\"y\":1e999}}]"
        );
        let looks = materials(&mut serde_json::Deserializer::from_str(&text)).unwrap();
        let white = Look { color: [1.0; 3], gloss: 0.0 };
        assert_eq!(looks, [Look { color: [0.0; 3], gloss: 0.5 }, white, white, white]);
        let read = |text: &str| materials(&mut serde_json::Deserializer::from_str(text)).unwrap();
        assert_eq!((read(&deep), read("1e999")), (vec![white], vec![]));
        for odd in [&*deep, "1e999"] {
            assert_eq!(material(&mut serde_json::Deserializer::from_str(odd)).unwrap(), None);
        }
    }
}
