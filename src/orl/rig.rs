//! One character: its meshes, skeleton and RigLogic, bound to the names of the controls that drive it.

use super::bounds::OrlBounds;
use super::controls::{ControlBinding, ControlLayer};
use super::dna::Dna;
use super::instance::OrlInstance;
use super::mesh::OrlMesh;
use super::model::OrlModel;
use super::pack::OrlPack;
use super::riglogic::{RigLogic, RotationOutput};
use super::shells::ShellMesh;
use crate::error::{LoadError, LoadErrorKind};
use crate::info::Units;
use crate::math::Aabb;
use crate::sparse::{DeltaFormat, sparse_gather};
use crate::{lbs, math};
use glam::DVec3;
use std::fmt;
use std::sync::OnceLock;

/// What controls are to be called, and so which layer they go in by.
#[derive(Debug, Clone, PartialEq)]
pub enum ControlChoice {
    /// All controls of one layer, in the file's order.
    Layer(ControlLayer),
    /// These names, in this order, in the layer that has more of them.
    Names(Vec<String>),
    /// These names, in this order, in this layer.
    NamesIn(ControlLayer, Vec<String>),
}

/// Which part of a DNA becomes a rig.
#[derive(Debug, Clone, PartialEq)]
pub struct RigOptions {
    /// The meshes, by their index in the file: of those that the level shows ([`Dna::shows`]). They share one solved state; a MetaHuman's skin is
    /// the first, its teeth, eyes and lashes are others.
    pub meshes: Vec<usize>,
    /// The level of detail that RigLogic evaluates.
    pub lod: usize,
    /// How deltas are kept: packed for a GPU, as they are for the CPU reference.
    pub format: DeltaFormat,
    /// The controls.
    pub controls: ControlChoice,
    /// Meshes that the file does not have.
    pub shells: Vec<ShellMesh>,
}

impl Default for RigOptions {
    /// The first mesh at the finest level, driven by its GUI controls.
    fn default() -> RigOptions {
        RigOptions {
            meshes: vec![0],
            lod: 0,
            format: DeltaFormat::I16,
            controls: ControlChoice::Layer(ControlLayer::Gui),
            shells: Vec::new(),
        }
    }
}

/// A character that any number of [`OrlInstance`]s share: put it in an `Arc`.
pub struct OrlRig {
    model: OrlModel,
    logic: RigLogic,
    lod: usize,
    mesh: OrlMesh,
    controls: ControlBinding,
    default_controls: Vec<f32>,
    undriven: Vec<String>,
    rest: OrlInstance,
    rest_positions: Vec<[f32; 3]>,
    bounds: OnceLock<OrlBounds>,
}

impl fmt::Debug for OrlRig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrlRig")
            .field("meshes", &self.mesh.ranges())
            .field("counts", self.logic.counts())
            .field("lod", &self.lod)
            .field("layer", &self.controls.layer())
            .finish_non_exhaustive()
    }
}

impl OrlRig {
    /// The rig of a DNA, in its own unit.
    ///
    /// # Errors
    /// `Value` - a level that the rig does not have, a mesh that the level does not show, controls at their defaults that move something out of the range of f32; what
    /// [`OrlMesh::of_dna`], [`RigLogic::new`] and [`ControlBinding::of_names`] refuse.
    pub fn from_dna(dna: &Dna, options: &RigOptions) -> Result<OrlRig, LoadError> {
        let lods = usize::from(dna.descriptor.lod_count);
        if options.lod >= lods {
            return Err(LoadError::new(LoadErrorKind::Value, "lod", format!("a level below {lods}"), options.lod));
        }
        let hidden = |mesh: &&usize| **mesh < dna.meshes.len() && !dna.shows(**mesh, options.lod);
        if let Some(mesh) = options.meshes.iter().find(hidden) {
            let shown = dna.definition.lod_meshes.list(options.lod);
            let expected = format!("meshes of level {}, of {shown:?}", options.lod);
            return Err(LoadError::new(LoadErrorKind::Value, "meshes", expected, mesh));
        }
        let model = OrlModel::new(dna);
        let mesh = OrlMesh::of_dna(dna, &model, &options.meshes, &options.shells, options.format)?;
        OrlRig::assemble(dna, model, mesh, options.lod, &options.controls)
    }

    /// The rig of a pack, in centimetres, at the level of detail that it was baked for; deltas stay as they are stored.
    ///
    /// # Errors
    /// `Missing` - a pack without a DNA; `Type` and `Value` - a `lod` in the manifest that is none of the DNA's; as [`OrlRig::from_dna`].
    pub fn from_pack(pack: &OrlPack, controls: &ControlChoice, shells: &[ShellMesh]) -> Result<OrlRig, LoadError> {
        let model = OrlModel::of_pack(pack)?;
        let dna = pack.dna().expect("the model was made from it");
        let (name, lod) = pack.origin()?;
        let lods = usize::from(dna.descriptor.lod_count);
        if lod >= lods {
            let field = "member \"manifest.json\": lod";
            return Err(LoadError::new(LoadErrorKind::Value, field, format!("a level below {lods}"), lod));
        }
        let mesh = OrlMesh::of_pack(pack, &model, &name, shells)?;
        OrlRig::assemble(dna, model, mesh, lod, controls)
    }

    fn assemble(
        dna: &Dna,
        model: OrlModel,
        mesh: OrlMesh,
        lod: usize,
        choice: &ControlChoice,
    ) -> Result<OrlRig, LoadError> {
        let logic = RigLogic::new(dna, RotationOutput::Euler)?;
        let controls = match choice {
            ControlChoice::Layer(layer) => ControlBinding::of_layer(dna, *layer),
            ControlChoice::Names(names) => ControlBinding::of_names(dna, names)?,
            ControlChoice::NamesIn(layer, names) => ControlBinding::of_names_in(dna, *layer, names)?,
        };
        let default_controls = controls.defaults(logic.initial_controls());
        let parts = Parts { model: &model, logic: &logic, lod, mesh: &mesh, controls: &controls };
        let rest = OrlInstance::at(&parts, &default_controls).map_err(|e| {
            LoadError::new(LoadErrorKind::Value, "behavior", "finite joints and weights at the default controls", e)
        })?;
        let rest_positions = rest_positions(&mesh, &rest);
        Ok(OrlRig {
            undriven: undriven(dna),
            model,
            logic,
            lod,
            mesh,
            controls,
            default_controls,
            rest,
            rest_positions,
            bounds: OnceLock::new(),
        })
    }

    /// The joints and their neutral pose.
    #[must_use]
    pub fn model(&self) -> &OrlModel {
        &self.model
    }

    /// From controls to joints and weights; rotations as Euler angles, whose sums the handed vertices are made with.
    #[must_use]
    pub fn logic(&self) -> &RigLogic {
        &self.logic
    }

    /// The level of detail that is evaluated.
    #[must_use]
    pub fn lod(&self) -> usize {
        self.lod
    }

    /// All meshes of the character as one.
    #[must_use]
    pub fn mesh(&self) -> &OrlMesh {
        &self.mesh
    }

    /// What the controls are called, and where they go.
    #[must_use]
    pub fn controls(&self) -> &ControlBinding {
        &self.controls
    }

    /// (C) What the controls stand at before they are set.
    #[must_use]
    pub fn default_controls(&self) -> &[f32] {
        &self.default_controls
    }

    /// The unit of everything that has a length.
    #[must_use]
    pub fn units(&self) -> Units {
        self.model.units()
    }

    /// The raw controls that no GUI control reaches; [`OrlInstance::set_raw`] does.
    #[must_use]
    pub fn undriven_raw_controls(&self) -> &[String] {
        &self.undriven
    }

    /// An instance at the default controls.
    #[must_use]
    pub fn rest(&self) -> &OrlInstance {
        &self.rest
    }

    /// (V, 3) The vertices at the default controls.
    #[must_use]
    pub fn rest_positions(&self) -> &[[f32; 3]] {
        &self.rest_positions
    }

    /// The box of the vertices at the default controls.
    #[must_use]
    pub fn rest_bounds(&self) -> Aabb {
        Aabb::of_points(self.rest_positions.iter().copied())
    }

    /// What bounds an instance, measured at the first use.
    #[must_use]
    pub fn bounds(&self) -> &OrlBounds {
        self.bounds.get_or_init(|| OrlBounds::new(&self.mesh))
    }

    pub(super) fn parts(&self) -> Parts<'_> {
        Parts { model: &self.model, logic: &self.logic, lod: self.lod, mesh: &self.mesh, controls: &self.controls }
    }
}

/// What an instance needs of its rig.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub model: &'a OrlModel,
    pub logic: &'a RigLogic,
    pub lod: usize,
    pub mesh: &'a OrlMesh,
    pub controls: &'a ControlBinding,
}

fn rest_positions(mesh: &OrlMesh, rest: &OrlInstance) -> Vec<[f32; 3]> {
    let rows: &[math::Rows] = rest.pose().skin_rows();
    let position = |(vertex, neutral): (usize, &[f32; 3])| {
        let p = DVec3::from(neutral.map(f64::from)) + sparse_gather(mesh.deltas(), vertex, rest.coefficients());
        lbs::lbs_skin(mesh.influences().row(vertex), rows, p).as_vec3().to_array()
    };
    mesh.neutral().iter().enumerate().map(position).collect()
}

fn undriven(dna: &Dna) -> Vec<String> {
    let names = &dna.definition.raw_control_names;
    let mut driven = vec![false; names.len()];
    for row in &dna.behavior.gui_to_raw {
        if let Some(driven) = driven.get_mut(usize::from(row.output)) {
            *driven = true;
        }
    }
    names.iter().zip(driven).filter(|(_, driven)| !driven).map(|(name, _)| name.clone()).collect()
}
