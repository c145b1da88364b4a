//! A glTF file as a rig: joints, controls, skins, vertices and clips.

use super::clip::{Clip, read_clips};
use super::container::Container;
use super::controls::GltfControls;
use super::document::Root;
use super::mesh::{Builder, GltfMesh};
use super::nodes::Graph;
use super::pose::{GltfPose, OutputSpace};
use super::report::LoadReport;
use super::skin::{GltfSkin, read_skins};
use super::source::Source;
use crate::error::LoadError;
use crate::files::{self, Files};
use crate::info::{RigInfo, RigKind, Units};
use crate::math::Aabb;
use crate::skeleton::Skeleton;
use crate::skeleton::vrm::{VrmHumanoid, vrm_humanoid};
use glam::DAffine3;
use std::path::Path;

/// A glTF file, checked and decoded.
///
/// The joints are the nodes of the default scene, every skin's joints and the ancestors of both, parents before children and otherwise in
/// file order, each called by its name or, where that is missing or not unique, by its index in the file: `#12`. The joints of several
/// skins and scenes share one list.
#[derive(Debug, Clone, PartialEq)]
pub struct GltfModel {
    skeleton: Skeleton,
    joint_nodes: Vec<usize>,
    node_names: Vec<String>,
    vrm: Result<Option<VrmHumanoid>, LoadError>,
    controls: GltfControls,
    skins: Vec<GltfSkin>,
    mesh: GltfMesh,
    clips: Vec<Clip>,
    report: LoadReport,
    rest_bounds: Aabb,
}

impl GltfModel {
    /// Reads the bytes of a `.glb`, `.vrm` or `.gltf`; `files` gives the buffers that it names.
    ///
    /// Images are never fetched, and neither is a buffer that no shown mesh, no skin and no clip needs. What is not shown is not decoded; its
    /// indices must lead somewhere all the same.
    ///
    /// # Errors
    /// Every kind of [`crate::error::LoadErrorKind`]; the field is the JSON pointer of what is wrong.
    pub fn load(bytes: &[u8], files: &Files) -> Result<GltfModel, LoadError> {
        GltfModel::load_in(bytes, files, "")
    }

    fn load_in(bytes: &[u8], files: &Files, folder: &str) -> Result<GltfModel, LoadError> {
        let container = Container::split(bytes)?;
        let root = Root::parse(container.json)?;
        root.check_references()?;
        let mut source = Source::new(&root, &container, files, folder);
        let graph = {
            let mut report = LoadReport::default();
            let graph = Graph::new(&root, &mut report)?;
            source.report = report;
            graph
        };
        let controls = GltfControls::new(&mut source, &graph)?;
        let skins = read_skins(&mut source, &graph)?;
        let mesh = Builder::new(&mut source, controls.morph_count()).build(&graph, &controls, &skins)?;
        let clips = read_clips(&mut source, &graph, &controls)?;
        let parents = graph.joints.iter().map(|&node| graph.parent_joint(node)).collect();
        let node_name = |&node: &usize| root.nodes[node].name.clone().unwrap_or_default();
        // Skin rows are a skin's, not a joint's: one joint may have several inverse bind matrices.
        let unused = vec![DAffine3::IDENTITY; graph.joints.len()];
        let mut model = GltfModel {
            skeleton: Skeleton::new(graph.names, parents, unused),
            node_names: graph.joints.iter().map(node_name).collect(),
            vrm: vrm_humanoid(&root.vrm(), root.nodes.len()),
            joint_nodes: graph.joints,
            controls,
            skins,
            mesh,
            clips,
            report: source.report,
            rest_bounds: Aabb::default(),
        };
        let rest = GltfPose::new(&model, OutputSpace::World);
        model.mesh.turn_mirrored(rest.skin_rows());
        model.rest_bounds = Aabb::of_points(model.posed_positions(&rest));
        Ok(model)
    }

    /// Reads a file on disk; the buffers it names must lie in its folder.
    ///
    /// # Errors
    /// As [`GltfModel::load`], with the file's name.
    pub fn open(path: &Path) -> Result<GltfModel, LoadError> {
        let bytes = files::read_file(path, files::MAX_FILE_BYTES)?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        GltfModel::load(&bytes, &Files::Folder(folder.to_path_buf())).map_err(|e| e.in_file(path.display()))
    }

    /// Reads a file of a bundle; the buffers it names must lie in the same folder as it does, or below. On disk a link may lead to another place in
    /// the bundle, never out of it.
    ///
    /// # Errors
    /// As [`GltfModel::load`], with the name of the file at fault: the document or a buffer.
    pub fn read(files: &Files, path: &str) -> Result<GltfModel, LoadError> {
        let path = files::inner_path(path)?;
        let bytes = files.read(&path, files::MAX_FILE_BYTES)?;
        let folder = path.rfind('/').map_or("", |slash| &path[..=slash]);
        GltfModel::load_in(&bytes, files, folder).map_err(|e| e.in_file(&path))
    }

    fn posed_positions(&self, pose: &GltfPose) -> impl Iterator<Item = [f32; 3]> {
        let weights = self.mesh.position_deltas().weigh(pose.morph_weights());
        let (rows, skinning) = (pose.skin_rows(), pose.skinning());
        let vertex = move |v| self.mesh.posed_vertex(v, &weights, rows, skinning).as_vec3().to_array();
        (0..self.mesh.vertex_count()).map(vertex)
    }

    /// The positions at the default controls, in world space: what a fresh backend shows, (V, 3).
    #[must_use]
    pub fn rest_positions(&self) -> Vec<[f32; 3]> {
        self.posed_positions(&GltfPose::new(self, OutputSpace::World)).collect()
    }

    /// Joint names and parents.
    #[must_use]
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The node of every joint, as the file counts, (J).
    #[must_use]
    pub fn joint_nodes(&self) -> &[usize] {
        &self.joint_nodes
    }

    /// The joint of a node of the file; none for a node that the rig does not have.
    #[must_use]
    pub fn joint_of_node(&self, node: usize) -> Option<usize> {
        self.joint_nodes.iter().position(|&n| n == node)
    }

    /// What the file calls the node of every joint, (J); empty where it says nothing. Names that two nodes share are here twice.
    #[must_use]
    pub fn node_names(&self) -> &[String] {
        &self.node_names
    }

    /// The humanoid bones that the file states, if it is a VRM, by node.
    ///
    /// # Errors
    /// What [`vrm_humanoid`] refuses in the file's table. Such a file is a rig all the same.
    pub fn vrm(&self) -> Result<Option<&VrmHumanoid>, &LoadError> {
        self.vrm.as_ref().map(Option::as_ref)
    }

    /// The control vector.
    #[must_use]
    pub fn controls(&self) -> &GltfControls {
        &self.controls
    }

    /// The file's skins.
    #[must_use]
    pub fn skins(&self) -> &[GltfSkin] {
        &self.skins
    }

    /// The vertices.
    #[must_use]
    pub fn mesh(&self) -> &GltfMesh {
        &self.mesh
    }

    /// The file's animations.
    #[must_use]
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// A clip by its name, or else by its index in decimal digits; the first of equal names answers.
    #[must_use]
    pub fn clip(&self, name_or_index: &str) -> Option<&Clip> {
        let named = self.clips.iter().find(|clip| clip.name() == Some(name_or_index));
        named.or_else(|| self.clips.get(name_or_index.parse::<usize>().ok()?))
    }

    /// What the loader met.
    #[must_use]
    pub fn report(&self) -> &LoadReport {
        &self.report
    }

    /// What a backend with that many instances says of itself. The unit is the metre, as glTF has it.
    #[must_use]
    pub fn info(&self, instance_count: usize) -> RigInfo {
        RigInfo {
            kind: RigKind::Gltf,
            units: Units::Metres,
            vertex_count: self.mesh.vertex_count(),
            instance_count,
            control_names: self.controls.names().to_vec(),
            default_controls: self.controls.defaults().to_vec(),
            joint_names: self.skeleton.names().to_vec(),
            rest_bounds: self.rest_bounds,
        }
    }
}
