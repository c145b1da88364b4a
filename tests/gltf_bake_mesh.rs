//! A pose as a static file: what went in comes out, right-handed and sound.

mod gltf_case;

use glam::Vec3;
use gltf_case::*;
use rigeval::error::LoadErrorKind;
use rigeval::files::Files;
use rigeval::gltf::bake_mesh::{BakedMesh, PosedVertices, bake_mesh};
use rigeval::gltf::cpu::{gltf_morph, gltf_morph_normals, gltf_morph_tangents};
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::gltf::report::LoadReport;
use rigeval::gltf::sample::sample;
use rigeval::head::HeadSize;
use serde_json::{Value, json};
use std::path::Path;

fn load(glb: &[u8]) -> GltfModel {
    GltfModel::load(glb, &no_files()).unwrap()
}

fn try_bake(model: &GltfModel, controls: &[f32]) -> Result<BakedMesh, rigeval::error::LoadError> {
    let mut pose = GltfPose::new(model, OutputSpace::World);
    pose.set_controls(model, controls).unwrap();
    let positions = gltf_morph(model.mesh(), &pose);
    let normals = gltf_morph_normals(model.mesh(), &pose);
    let tangents = gltf_morph_tangents(model.mesh(), &pose);
    let posed = PosedVertices { positions: &positions, normals: normals.as_deref(), tangents: tangents.as_deref() };
    bake_mesh(model, &pose, posed)
}

fn bake(model: &GltfModel, controls: &[f32]) -> BakedMesh {
    try_bake(model, controls).unwrap()
}

/// The document of a GLB.
fn document(glb: &[u8]) -> Value {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&glb[20..20 + length]).unwrap()
}

/// Positions of the parts that have triangles.
fn drawn(model: &GltfModel, positions: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let parts = model.mesh().parts().iter().zip(&model.mesh().render().parts);
    let drawn = parts.filter(|(_, render)| !render.triangles.is_empty());
    drawn.flat_map(|(part, _)| positions[part.vertices.clone()].to_vec()).collect()
}

#[test]
fn pose_of_the_sample_comes_back_bit_for_bit() {
    let model = load(&sample(HeadSize::Small));
    for time in [0.0, 0.62, 1.25] {
        let controls = sampled(&model, time);
        let baked = bake(&model, &controls);
        let back = load(&baked.glb);
        assert_eq!(*back.report(), LoadReport::default());
        assert_eq!(back.rest_positions(), vertices(&model, &controls), "at {time} s");
        assert_eq!(back.mesh().render().triangles, model.mesh().render().triangles);
        assert_eq!((baked.vertex_count, baked.triangle_count), (2_090, 4_044));
        assert_eq!((baked.made_normals, baked.left_out.len(), back.clips().len()), (0, 0, 0));
        let mut pose = GltfPose::new(&model, OutputSpace::World);
        pose.set_controls(&model, &controls).unwrap();
        let off = |(a, b): (&[f32; 3], [f32; 3])| Vec3::from(*a).distance(b.into());
        let normals = gltf_morph_normals(model.mesh(), &pose).unwrap();
        let worst = back.mesh().normals().unwrap().iter().zip(normals).map(off).fold(0.0, f32::max);
        assert_eq!(worst, 0.0, "normals");
        let names = |model: &GltfModel| -> Vec<String> {
            model.mesh().render().parts.iter().map(|part| part.name.clone()).collect()
        };
        assert_eq!((&names(&back), &baked.parts), (&names(&model), &names(&model)));
        for (part, own) in back.mesh().render().parts.iter().zip(&model.mesh().render().parts) {
            let (look, own) = (part.look.unwrap(), own.look.unwrap());
            assert!(Vec3::from(look.color).distance(own.color.into()) < 1e-6 && (look.gloss - own.gloss).abs() < 1e-6);
        }
    }
    assert_eq!(bake(&model, &sampled(&model, 0.62)), bake(&model, &sampled(&model, 0.62)));
}

#[test]
fn vertices_of_a_skin_stand_still_in_the_world() {
    let case = Case::skinned(&[[1.0, 2.0, 3.0]], &TRIANGLE, &[[0; 4]; 3], &[[1.0, 0.0, 0.0, 0.0]; 3]);
    let model = case.model();
    let baked = bake(&model, model.controls().defaults());
    let back = load(&baked.glb);
    assert_eq!(back.rest_positions(), [[1.0, 2.0, 3.0], [2.0, 2.0, 3.0], [1.0, 3.0, 3.0]]);
    assert!(back.skins().is_empty() && back.mesh().normals().is_none());
    let primitive = &document(&baked.glb)["meshes"][0]["primitives"][0];
    assert_eq!(primitive["attributes"].as_object().unwrap().len(), 1);
    assert_eq!(primitive.get("material"), None, "the file has none");
}

/// A triangle that looks along +Z, with normals, tangents along +X and texture coordinates, under a node.
fn shaded(node: Value, sign: f32) -> Case {
    let mut case = Case::new();
    let position = case.rows(&TRIANGLE);
    let normal = case.rows(&[[0.0_f32, 0.0, 1.0]; 3]);
    let tangent = case.rows(&[[1.0, 0.0, 0.0, sign]; 3]);
    let uv = case.rows(&[[0.25_f32, 0.5], [0.75, 0.5], [0.25, 1.0]]);
    let attributes = json!({"POSITION": position, "NORMAL": normal, "TANGENT": tangent, "TEXCOORD_0": uv});
    case.json["materials"] = json!([{"pbrMetallicRoughness":
        {"baseColorFactor": [0.5, 0.25, 1.0, 0.5], "roughnessFactor": 0.75, "baseColorTexture": {"index": 9}}}]);
    case.mesh_node(json!({"attributes": attributes, "material": 0}), node);
    case
}

/// Which way the first triangle faces, the normal of its first corner, and the bitangent there.
fn frame(model: &GltfModel) -> [Vec3; 3] {
    let positions = model.rest_positions();
    let [a, b, c] = model.mesh().render().triangles[0].map(|v| Vec3::from(positions[v as usize]));
    let normal = Vec3::from(model.mesh().normals().unwrap()[0]);
    let [x, y, z, sign] = model.mesh().tangents().unwrap()[0];
    [(b - a).cross(c - a).normalize(), normal, sign * normal.cross(Vec3::new(x, y, z))]
}

#[test]
fn mirrored_part_faces_outward_and_its_bitangent_goes_along() {
    for sign in [1.0, -1.0] {
        for (scale, bitangent) in [
            ([1.0, 1.0, 1.0], Vec3::Y),
            ([-2.0, 2.0, 2.0], Vec3::Y),
            ([1.0, -1.0, 1.0], Vec3::NEG_Y),
            ([-1.0, -1.0, 1.0], Vec3::NEG_Y),
        ] {
            let model = shaded(json!({"scale": scale}), sign).model();
            let back = load(&bake(&model, model.controls().defaults()).glb);
            assert_eq!(frame(&back), [Vec3::Z, Vec3::Z, sign * bitangent], "scale {scale:?}, sign {sign}");
            assert_eq!(back.mesh().render().uvs, model.mesh().render().uvs);
        }
    }
}

#[test]
fn part_that_mirrors_only_in_the_pose_or_only_at_rest_is_turned_over_by_the_pose() {
    for (rest, posed) in [(1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, 1.0)] {
        let model = shaded(json!({"name": "face", "scale": [rest, 1.0, 1.0]}), 1.0).model();
        let mut controls = model.controls().defaults().to_vec();
        controls[control(&model, "node/face/scale/x")] = posed;
        let back = load(&bake(&model, &controls).glb);
        assert_eq!(frame(&back), [Vec3::Z, Vec3::Z, Vec3::Y], "{rest} at rest, {posed} in the pose");
    }
}

#[test]
fn part_whose_joint_mirrors_it_faces_outward() {
    let mut case = Case::skinned(&[[0.0; 3]], &TRIANGLE, &[[0; 4]; 3], &[[1.0, 0.0, 0.0, 0.0]; 3]);
    let normal = case.rows(&[[0.0_f32, 0.0, 1.0]; 3]);
    let tangent = case.rows(&[[1.0_f32, 0.0, 0.0, 1.0]; 3]);
    case.primitive()["attributes"]["NORMAL"] = json!(normal);
    case.primitive()["attributes"]["TANGENT"] = json!(tangent);
    case.json["nodes"][0]["scale"] = json!([-1.0, 1.0, 1.0]);
    let model = case.model();
    let back = load(&bake(&model, model.controls().defaults()).glb);
    assert_eq!(frame(&back), [Vec3::Z, Vec3::Z, Vec3::Y]);
}

#[test]
fn base_colour_is_kept_without_its_texture() {
    let model = shaded(json!({}), 1.0).model();
    let baked = bake(&model, model.controls().defaults());
    let material = &document(&baked.glb)["materials"][0]["pbrMetallicRoughness"];
    let factor: Vec<f64> =
        material["baseColorFactor"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    for (got, want) in factor.iter().zip([0.5, 0.25, 1.0, 1.0]) {
        assert!((got - want).abs() < 1e-6, "{factor:?}");
    }
    assert_eq!((&material["roughnessFactor"], &material["baseColorTexture"]), (&json!(0.75), &Value::Null));
    assert_eq!(load(&baked.glb).mesh().render().parts[0].look.map(|l| l.gloss), Some(0.25));
}

#[test]
fn zero_normals_and_tangents_become_unit_ones() {
    let mut case = Case::new();
    // The fourth vertex belongs to no triangle.
    let position = case.rows(&[[0.0_f32, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [5.0, 5.0, 5.0]]);
    let normal = case.rows(&[[0.0_f32; 3], [-1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]]);
    let tangent = case.rows(&[[0.0_f32, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, -1.0], [0.0; 4], [0.0; 4]]);
    let indices = case.accessor(U8, "SCALAR", 3, &[0, 1, 2]);
    let attributes = json!({"POSITION": position, "NORMAL": normal, "TANGENT": tangent});
    case.mesh_node(json!({"attributes": attributes, "indices": indices}), json!({}));
    let model = case.model();
    let baked = bake(&model, model.controls().defaults());
    assert_eq!(baked.made_normals, 3);
    let back = load(&baked.glb);
    let normals = back.mesh().normals().unwrap();
    assert_eq!(normals, [[-1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
    let tangents = back.mesh().tangents().unwrap();
    assert_eq!(tangents[1], [0.0, 1.0, 0.0, -1.0]);
    for (n, [x, y, z, sign]) in normals.iter().zip(tangents) {
        let t = Vec3::new(*x, *y, *z);
        assert!((t.length() - 1.0).abs() < 1e-6 && t.dot((*n).into()).abs() < 1e-6 && sign.abs() == 1.0);
    }
}

#[test]
fn points_and_lines_are_left_out_and_named() {
    let mut case = shaded(json!({"name": "face"}), 1.0);
    let position = case.rows(&[[7.0_f32, 7.0, 7.0], [8.0, 8.0, 8.0]]);
    const LINES: u32 = 1;
    case.mesh_node(json!({"attributes": {"POSITION": position}, "mode": LINES}), json!({"name": "hair"}));
    let model = case.model();
    let baked = bake(&model, model.controls().defaults());
    assert_eq!((&baked.parts[..], &baked.left_out[..]), (&["face".to_string()][..], &["hair".to_string()][..]));
    let back = load(&baked.glb);
    assert_eq!(back.rest_positions(), TRIANGLE);
    // Nothing but lines.
    let mut case = Case::new();
    let position = case.rows(&TRIANGLE);
    case.mesh_node(json!({"attributes": {"POSITION": position}, "mode": LINES}), json!({}));
    let model = case.model();
    let error = try_bake(&model, model.controls().defaults()).unwrap_err();
    assert_eq!((error.kind, error.field.as_str()), (LoadErrorKind::Value, "/meshes"));
}

#[test]
fn many_vertices_take_wide_indices() {
    let mut case = Case::new();
    let points: Vec<[f32; 3]> = (0..70_000).map(|i| [i as f32, (i % 7) as f32, (i % 3) as f32]).collect();
    let position = case.rows(&points);
    let corners = [0_u32, 69_998, 69_999];
    let indices = case.accessor(U32, "SCALAR", 3, &bytes(&corners));
    case.mesh_node(json!({"attributes": {"POSITION": position}, "indices": indices}), json!({}));
    let model = case.model();
    let baked = bake(&model, model.controls().defaults());
    let back = load(&baked.glb);
    assert_eq!(back.mesh().render().triangles, [corners]);
    assert_eq!(back.rest_positions(), points);
}

#[test]
fn accessors_state_their_bounds_and_lie_aligned() {
    let model = load(&sample(HeadSize::Tiny));
    let baked = bake(&model, &sampled(&model, 0.7));
    let document = document(&baked.glb);
    for view in document["bufferViews"].as_array().unwrap() {
        assert_eq!(view["byteOffset"].as_u64().unwrap() % 4, 0);
    }
    let back = load(&baked.glb);
    for (part, mesh) in back.mesh().parts().iter().zip(document["meshes"].as_array().unwrap()) {
        let accessor = mesh["primitives"][0]["attributes"]["POSITION"].as_u64().unwrap() as usize;
        let accessor = &document["accessors"][accessor];
        for axis in 0..3 {
            let values = || back.mesh().positions()[part.vertices.clone()].iter().map(|p| p[axis]);
            // Decimal digits of an f32, read as an f64, may be off by that one's last bit.
            let stated = |key: &str| accessor[key][axis].as_f64().map(|x| x as f32);
            assert_eq!(stated("min"), values().reduce(f32::min));
            assert_eq!(stated("max"), values().reduce(f32::max));
        }
    }
}

#[test]
fn real_files_come_back_bit_for_bit() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/gltf/models"));
    if !folder.is_dir() {
        eprintln!("SKIP real_files_come_back_bit_for_bit: no folder {}; the tests above cover it", folder.display());
        return;
    }
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut count = 0;
    for path in files {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let Ok(model) = GltfModel::load(&bytes, &Files::Folder(folder.to_path_buf())) else { continue };
        let controls = match model.clips().first() {
            Some(_) => sampled(&model, 0.4),
            None => model.controls().defaults().to_vec(),
        };
        let Ok(baked) = try_bake(&model, &controls) else { continue };
        let back = load(&baked.glb);
        assert!(back.rest_positions() == drawn(&model, &vertices(&model, &controls)), "{}", path.display());
        // Parts of one mesh under several nodes have one name.
        let duplicate_names = back.report().duplicate_names;
        assert_eq!(*back.report(), LoadReport { duplicate_names, ..LoadReport::default() }, "{}", path.display());
        count += 1;
    }
    assert!(count > 10, "{count} files");
}
