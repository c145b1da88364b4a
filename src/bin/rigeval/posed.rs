//! A rig that controls pose: what GNM packs, MetaHuman rigs and glTF files have in common here.

use crate::arrays;
use crate::device::Device;
use crate::evaluate::{self, Backend, Inputs, PosedFrames};
use crate::failure::Failure;
use crate::report::listed;
use crate::rig::Bundle;
use rigeval::error::{LoadError, LoadErrorKind};
use rigeval::frames::Overrides;
use rigeval::gltf::cpu::gltf_morph;
use rigeval::gltf::model::GltfModel;
use rigeval::gltf::pose::{GltfPose, OutputSpace};
use rigeval::gnm::pack::GnmPack;
use rigeval::gnm::pose::Stage;
use rigeval::gpu::GpuContext;
use rigeval::info::{RigKind, RigMesh, Units};
use rigeval::lbs::Skinning;
use rigeval::npy::Array;
use rigeval::orl::controls::ControlLayer;
use rigeval::orl::dna::Dna;
use rigeval::orl::pack::OrlPack;
use rigeval::orl::rig::{ControlChoice, OrlRig, RigOptions};
use rigeval::scene::SceneRig;
use rigeval::skeleton::Skeleton;
use rigeval::sparse::DeltaFormat;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// What of a MetaHuman rig is evaluated.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct OrlOptions {
    /// DNA: which mesh, an index in the file [default: 0; for render all that the level shows]
    #[arg(long, value_name = "M")]
    pub mesh: Option<usize>,
    /// DNA: which level of detail [default: 0]
    #[arg(long, value_name = "L")]
    pub lod: Option<usize>,
    /// DNA or ORL pack: the controls are raw controls instead of GUI controls
    #[arg(long)]
    pub raw: bool,
    /// Whether a DNA whose mesh nobody chose shows all meshes of its level.
    #[arg(skip)]
    pub shows_all: bool,
}

impl OrlOptions {
    /// Which of them were given.
    pub fn given(&self) -> [(&'static str, bool); 3] {
        [("--mesh", self.mesh.is_some()), ("--lod", self.lod.is_some()), ("--raw", self.raw)]
    }

    fn controls(&self) -> ControlChoice {
        ControlChoice::Layer(if self.raw { ControlLayer::Raw } else { ControlLayer::Gui })
    }
}

/// A rig that controls pose.
pub enum PosedRig {
    /// A GNM pack, up to a stage.
    Gnm { pack: Arc<GnmPack>, stage: Stage, noun: &'static str },
    /// A MetaHuman rig.
    Orl { rig: Arc<OrlRig>, source: OrlSource },
    /// A glTF file.
    Gltf { model: Arc<GltfModel>, skinning: Skinning },
}

/// Where a MetaHuman rig comes from.
pub enum OrlSource {
    /// A DNA: its deltas are floats, and packed for a GPU.
    Dna(Box<Dna>, OrlOptions),
    /// A pack, its deltas in int8.
    Pack(OrlOptions),
    /// The pack of a bundle, whose scene says what the controls are.
    Bundle,
}

impl PosedRig {
    /// The head of a GNM pack.
    pub fn of_gnm_pack(pack: Box<GnmPack>, stage: Stage) -> PosedRig {
        PosedRig::Gnm { pack: Arc::from(pack), stage, noun: "pack" }
    }

    /// One mesh of a DNA, its deltas as they are.
    pub fn of_dna(path: &Path, dna: Box<Dna>, options: &OrlOptions) -> Result<PosedRig, Failure> {
        let mesh = options.mesh.unwrap_or(0);
        if mesh >= dna.meshes.len() {
            let names = dna.definition.mesh_names.iter().take(dna.meshes.len()).enumerate();
            let numbered: Vec<String> = names.map(|(index, name)| format!("{index} {name:?}")).collect();
            let there = if numbered.is_empty() { "no meshes".to_string() } else { listed(&numbered) };
            return Err(Failure::new(format!("{}: mesh {mesh}: the rig has {there}", path.display())));
        }
        let (lod, lods) = (options.lod.unwrap_or(0), usize::from(dna.descriptor.lod_count));
        if lod >= lods {
            return Err(Failure::new(format!("{}: lod {lod}: the rig has levels 0 to {}", path.display(), lods - 1)));
        }
        let rig = rig_of_dna(&dna, options, DeltaFormat::F32).map_err(|e| e.in_file(path.display()))?;
        Ok(PosedRig::Orl { rig: Arc::new(rig), source: OrlSource::Dna(dna, options.clone()) })
    }

    /// The mesh of a pack.
    pub fn of_orl_pack(path: &Path, pack: &OrlPack, options: &OrlOptions) -> Result<PosedRig, Failure> {
        let rig = OrlRig::from_pack(pack, &options.controls(), &[]).map_err(|e| e.in_file(path.display()))?;
        Ok(PosedRig::Orl { rig: Arc::new(rig), source: OrlSource::Pack(options.clone()) })
    }

    /// The rig of a bundle.
    pub fn of_bundle(bundle: Bundle, stage: Stage) -> PosedRig {
        match bundle.scene.rig {
            SceneRig::Gnm(pack) => PosedRig::Gnm { pack, stage, noun: "bundle" },
            SceneRig::Orl(rig) => PosedRig::Orl { rig, source: OrlSource::Bundle },
            SceneRig::Gltf(model) => PosedRig::Gltf { model, skinning: Skinning::Linear },
        }
    }

    /// The rig as a device takes it: on a GPU deltas are packed.
    pub fn on(self, device: &Device) -> Result<PosedRig, Failure> {
        Ok(match (self, device) {
            (PosedRig::Orl { source: OrlSource::Dna(dna, options), .. }, Device::Gpu(_)) => {
                let rig = Arc::new(rig_of_dna(&dna, &options, DeltaFormat::I16)?);
                PosedRig::Orl { rig, source: OrlSource::Dna(dna, options) }
            }
            (rig, _) => rig,
        })
    }

    /// Every frame.
    pub fn evaluate(&self, device: &Device, inputs: &Inputs) -> Result<PosedFrames, Failure> {
        match self {
            PosedRig::Gnm { pack, stage, .. } => evaluate::gnm(device, pack, *stage, inputs),
            PosedRig::Orl { rig, .. } => evaluate::orl(device, rig, inputs),
            PosedRig::Gltf { model, skinning } => evaluate::gltf(device, model, *skinning, inputs),
        }
    }

    /// The rig on a device, with normals where there is anything to make them from.
    pub fn backend(&self, gpu: &GpuContext, instances: usize) -> Result<Backend, Failure> {
        let normals = self.has_normals();
        match self {
            PosedRig::Gnm { pack, stage, .. } => evaluate::gnm_backend(gpu, pack, *stage, instances, normals),
            PosedRig::Orl { rig, .. } => evaluate::orl_backend(gpu, rig, instances, normals),
            PosedRig::Gltf { model, skinning } => evaluate::gltf_backend(gpu, model, *skinning, instances, normals),
        }
    }

    /// What to draw.
    pub fn mesh(&self) -> RigMesh {
        match self {
            PosedRig::Gnm { pack, .. } => pack.mesh(),
            PosedRig::Orl { rig, .. } => rig.mesh().mesh().clone(),
            PosedRig::Gltf { model, .. } => model.mesh().render().clone(),
        }
    }

    /// (V, 3) The vertices at rest.
    pub fn rest_positions(&self) -> Vec<[f32; 3]> {
        match self {
            PosedRig::Gnm { pack, .. } => pack.rest_positions(),
            PosedRig::Orl { rig, .. } => rig.rest_positions().to_vec(),
            PosedRig::Gltf { model, .. } => gltf_morph(model.mesh(), &GltfPose::new(model, OutputSpace::World)),
        }
    }

    /// What messages call it.
    pub fn noun(&self) -> &'static str {
        match self {
            PosedRig::Gnm { noun, .. } => noun,
            PosedRig::Orl { source: OrlSource::Dna(..), .. } => "DNA",
            PosedRig::Orl { source: OrlSource::Pack(_), .. } => "pack",
            PosedRig::Orl { source: OrlSource::Bundle, .. } => "bundle",
            PosedRig::Gltf { .. } => "glTF file",
        }
    }

    pub fn kind(&self) -> RigKind {
        match self {
            PosedRig::Gnm { .. } => RigKind::Gnm,
            PosedRig::Orl { .. } => RigKind::Orl,
            PosedRig::Gltf { .. } => RigKind::Gltf,
        }
    }

    pub fn units(&self) -> Units {
        match self {
            PosedRig::Gnm { pack, .. } => pack.units(),
            PosedRig::Orl { rig, .. } => rig.units(),
            PosedRig::Gltf { .. } => Units::Metres,
        }
    }

    pub fn vertex_count(&self) -> usize {
        match self {
            PosedRig::Gnm { pack, .. } => pack.vertex_count(),
            PosedRig::Orl { rig, .. } => rig.mesh().vertex_count(),
            PosedRig::Gltf { model, .. } => model.mesh().vertex_count(),
        }
    }

    /// Whether there is anything to make normals from.
    pub fn has_normals(&self) -> bool {
        match self {
            PosedRig::Gnm { pack, .. } => !pack.faces().is_empty(),
            PosedRig::Orl { rig, .. } => !rig.mesh().mesh().triangles.is_empty(),
            PosedRig::Gltf { model, .. } => {
                model.mesh().normals().is_some() || !model.mesh().render().triangles.is_empty()
            }
        }
    }

    fn skeleton(&self) -> &Skeleton {
        match self {
            PosedRig::Gnm { pack, .. } => pack.skeleton(),
            PosedRig::Orl { rig, .. } => rig.model().skeleton(),
            PosedRig::Gltf { model, .. } => model.skeleton(),
        }
    }

    /// The controls of an array, (F, C), checked, with F.
    pub fn controls(&self, array: Array, what: &str) -> Result<(Vec<f32>, usize), Failure> {
        let (second, width) = (array.shape.get(1).copied(), self.control_count());
        arrays::rows(array, what, width).map_err(|error| match second.and_then(|second| self.hint(second)) {
            Some(hint) if error.kind == LoadErrorKind::Shape => Failure::new(format!("{error}; {hint}")),
            _ => Failure::from(error),
        })
    }

    fn control_count(&self) -> usize {
        match self {
            PosedRig::Gnm { pack, .. } => pack.coefficient_count() + 4,
            PosedRig::Orl { rig, .. } => rig.controls().names().len(),
            PosedRig::Gltf { model, .. } => model.controls().names().len(),
        }
    }

    /// The mistakes that look right.
    fn hint(&self, width: usize) -> Option<String> {
        match self {
            PosedRig::Gnm { .. } if width == 68 => {
                Some("68 is the width of gnm68: expand it per region, never pad it".to_string())
            }
            PosedRig::Gnm { .. } => None,
            PosedRig::Gltf { .. } => Some("rigeval info --json lists the controls".to_string()),
            PosedRig::Orl { source: OrlSource::Bundle, .. } => {
                Some("the bundle's scene names its controls, and rigeval info lists them".to_string())
            }
            PosedRig::Orl { rig, source: OrlSource::Dna(_, options) | OrlSource::Pack(options) } => {
                let counts = rig.logic().counts();
                let (other, name, advice) = match options.raw {
                    false => (counts.raw, "raw", "give --raw"),
                    true => (counts.gui, "GUI", "leave --raw out"),
                };
                (width == other).then(|| format!("{width} is the number of {name} controls: {advice}"))
            }
        }
    }

    /// Checks the overrides of every frame; joints that the rig does not have are skipped, and named in a warning.
    pub fn check_overrides(&self, overrides: &Overrides, frame_count: usize) -> Result<(), Failure> {
        let skeleton = self.skeleton();
        for frame in 0..frame_count {
            let turns = evaluate::joint_overrides(Some(overrides), frame);
            skeleton.resolve_overrides(&turns).map_err(evaluate::in_frame(frame))?;
        }
        let names = skeleton.names();
        let known: HashSet<&str> = names.iter().map(String::as_str).collect();
        let unknown: Vec<String> =
            overrides.joints().filter(|j| !known.contains(j)).map(|j| format!("{j:?}")).collect();
        if !unknown.is_empty() {
            let (unknown, names) = (listed(&unknown), listed(names));
            log::warn!("joints that the rig does not have are skipped: {unknown}; it has {names}");
        }
        Ok(())
    }
}

fn rig_of_dna(dna: &Dna, options: &OrlOptions, format: DeltaFormat) -> Result<OrlRig, LoadError> {
    let lod = options.lod.unwrap_or(0);
    let shown = || (0..dna.meshes.len()).filter(|mesh| dna.shows(*mesh, lod)).collect();
    let meshes = match options.mesh {
        None if options.shows_all => shown(),
        mesh => vec![mesh.unwrap_or(0)],
    };
    let options = RigOptions { meshes, lod, format, controls: options.controls(), shells: Vec::new() };
    OrlRig::from_dna(dna, &options)
}
