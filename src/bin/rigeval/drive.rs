//! A rig on the command line, and what drives its frames.

use crate::failure::Failure;
use crate::output::Named;
use crate::posed::{OrlOptions, PosedRig};
use crate::rig::{self, Bundle, Rig};
use crate::{arrays, clip};
use rigeval::files;
use rigeval::frames::Overrides;
use rigeval::gltf::model::GltfModel;
use rigeval::gnm::model::GnmModel;
use rigeval::gnm::pose::Stage;
use rigeval::lbs::Skinning;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What `eval` and `render` take alike.
#[derive(clap::Args)]
pub struct Driven {
    /// A GNM or ORL pack, a DNA, a glTF file (.glb, .gltf, .vrm), a bundle folder, or for eval a GNM model (.npz) for the original formula
    pub rig: PathBuf,
    /// Pack, DNA or glTF: controls, .npy of (F, C); of a MetaHuman rig its GUI controls in the file's order
    #[arg(long, value_name = "C.npy")]
    pub controls: Option<PathBuf>,
    #[command(flatten)]
    pub orl: OrlOptions,
    /// glTF: a clip, by name or else by index; it writes what it moves over --controls, or over the file's own pose
    #[arg(long, value_name = "NAME|INDEX")]
    pub clip: Option<String>,
    /// glTF: when the clip is sampled, in seconds, .npy of (F); outside of the keys the first or last one holds
    #[arg(long, value_name = "T.npy")]
    pub times: Option<PathBuf>,
    /// glTF: how several joints carry a vertex [default: linear]
    #[arg(long, value_enum)]
    skinning: Option<SkinningChoice>,
    /// Pack, DNA or glTF: joint overrides, JSON: joint -> [w, x, y, z] for every frame, or a list with one for each
    #[arg(long, value_name = "O.json")]
    pub overrides: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum SkinningChoice {
    Linear,
    DualQuaternion,
}

/// What a file was opened as.
pub enum Opened {
    /// The original formula.
    Model(Box<GnmModel>),
    /// A rig that controls pose.
    Posed(PosedRig),
}

impl Driven {
    /// Reads the rig; options that belong to another kind of rig are refused. Of a DNA without --mesh the first mesh, or all that its level shows.
    pub fn open(&self, stage: Stage, shows_all: bool) -> Result<Opened, Failure> {
        let orl = self.orl.given();
        if Bundle::is(&self.rig) {
            self.refuse("a DNA or a pack", "a bundle's scene names pack and controls", &orl)?;
            let mut rig = PosedRig::of_bundle(Bundle::read(&self.rig)?, stage);
            if let PosedRig::Gltf { skinning, .. } = &mut rig {
                *skinning = self.skinning();
            }
            return Ok(Opened::Posed(rig));
        }
        Ok(Opened::Posed(match rig::parse(&self.rig, rig::read(&self.rig)?)? {
            Rig::Model(model) => return Ok(Opened::Model(model)),
            Rig::Pack(pack) => {
                self.refuse("a MetaHuman rig", "a GNM pack has one mesh and one layer of controls", &orl)?;
                PosedRig::of_gnm_pack(pack, stage)
            }
            Rig::Dna(dna) => PosedRig::of_dna(&self.rig, dna, &OrlOptions { shows_all, ..self.orl.clone() })?,
            Rig::OrlPack(pack) => {
                self.refuse("a DNA", "a pack holds one mesh for one level of detail", &orl[..2])?;
                PosedRig::of_orl_pack(&self.rig, &pack, &self.orl)?
            }
            Rig::Gltf(model) => {
                self.refuse("a MetaHuman rig", "a glTF file is evaluated whole", &orl)?;
                PosedRig::Gltf { model: Arc::from(model), skinning: self.skinning() }
            }
        }))
    }

    /// (F, C) The controls of every frame, with F.
    pub fn frames(&self, rig: &PosedRig) -> Result<(Vec<f32>, usize), Failure> {
        if let PosedRig::Gltf { model, .. } = rig {
            return self.gltf_frames(rig, model);
        }
        let (shown, noun) = (self.rig.display(), rig.noun());
        self.refuse("a glTF file", &format!("a {noun} has no clips and is skinned linearly"), &self.gltf_options())?;
        let Some(path) = &self.controls else {
            return Err(Failure::new(format!("{shown}: give the {noun} its --controls C.npy")));
        };
        rig.controls(arrays::read(path)?, "controls").map_err(in_file(path))
    }

    /// What --clip, --times and --controls say.
    fn gltf_frames(&self, rig: &PosedRig, model: &GltfModel) -> Result<(Vec<f32>, usize), Failure> {
        let shown = self.rig.display();
        let given = match &self.controls {
            Some(path) => Some(rig.controls(arrays::read(path)?, "controls").map_err(in_file(path))?),
            None => None,
        };
        match (&self.clip, &self.times) {
            (Some(name), Some(path)) => {
                let clip = clip::named(model, name).map_err(in_file(&self.rig))?;
                let times = clip::times(arrays::read(path)?).map_err(|e| e.in_file(path.display()))?;
                let counted = self.controls.as_deref().unwrap_or(path);
                clip::controls(model, given, Some((clip, &times))).map_err(in_file(counted))
            }
            (Some(_), None) => Err(Failure::new(format!("{shown}: give --clip its --times T.npy, in seconds"))),
            (None, Some(_)) => Err(Failure::new(format!("{shown}: give --times its --clip NAME or INDEX"))),
            (None, None) => clip::controls(model, given, None),
        }
    }

    /// The overrides, checked against the rig and the number of frames.
    pub fn read_overrides(&self, rig: &PosedRig, frame_count: usize) -> Result<Option<Overrides>, Failure> {
        let Some(path) = &self.overrides else { return Ok(None) };
        let bytes = files::read_file(path, files::MAX_FILE_BYTES)?;
        let overrides = Overrides::parse(&bytes).and_then(|o| o.check_frames(frame_count).map(|()| o));
        let overrides = overrides.map_err(|e| e.in_file(path.display()))?;
        rig.check_overrides(&overrides, frame_count).map_err(in_file(path))?;
        Ok(Some(overrides))
    }

    /// The files, for [`crate::output::refuse_equal`].
    pub fn files(&self) -> [Named<'_>; 4] {
        [
            ("the rig", Some(&*self.rig)),
            ("--controls", self.controls.as_deref()),
            ("--times", self.times.as_deref()),
            ("--overrides", self.overrides.as_deref()),
        ]
    }

    /// Which of the options that only a glTF file takes were given.
    pub fn gltf_options(&self) -> [(&'static str, bool); 3] {
        [("--clip", self.clip.is_some()), ("--times", self.times.is_some()), ("--skinning", self.skinning.is_some())]
    }

    fn skinning(&self) -> Skinning {
        match self.skinning {
            None | Some(SkinningChoice::Linear) => Skinning::Linear,
            Some(SkinningChoice::DualQuaternion) => Skinning::DualQuaternion,
        }
    }

    /// An option that the rig would ignore is a mistake of the caller's.
    pub fn refuse(&self, of: &str, instead: &str, options: &[(&str, bool)]) -> Result<(), Failure> {
        match options.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(Failure::new(format!("{}: {name} belongs to {of}; {instead}", self.rig.display()))),
            None => Ok(()),
        }
    }
}

/// A failure with the file that it lies in.
fn in_file(path: &Path) -> impl Fn(Failure) -> Failure {
    move |Failure(message)| Failure::new(format!("{}: {message}", path.display()))
}
