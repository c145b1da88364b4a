//! What a scene's vectors mean for the rig that was opened.

use super::SceneError;
use super::manifest::{SCENE_FILE, SpaceBlock};
use crate::error::{ControlError, LoadError, LoadErrorKind};
use crate::expression::{
    ArkitColumns, ArkitMap, ArkitOrder, ArkitSlots, ControlSpace, ExpressionMap, EyeTurn, GnmNames, GnmRegions,
    MorphTarget, Segment, SpaceKind,
};
use crate::gltf::face::GltfFace;
use crate::gltf::model::GltfModel;
use crate::orl::controls::{ControlBinding, ControlLayer};

/// A scene's expression space, with the maps from it and from ARKit to the rig's controls.
#[derive(Debug, Clone, PartialEq)]
pub struct SceneSpace {
    space: ControlSpace,
    map: Result<ExpressionMap, ControlError>,
    arkit: Result<ExpressionMap, ControlError>,
}

impl SceneSpace {
    /// The space of a `gnm` rig with this layout. `arkit` is the host's map; it goes before the scene's `arkit_map`.
    ///
    /// # Errors
    /// `Load` - a dim, names or segments that are not the rig's, an `arkit_map` that is not 52 controls of it; `Space` - an `arkit52` space
    /// without a map, a map for another layout.
    pub fn of_gnm(
        block: Option<&SpaceBlock>,
        layout: &GnmRegions,
        arkit: Option<ArkitMap>,
    ) -> Result<SceneSpace, SceneError> {
        let slots = block.and_then(|block| block.arkit_map.as_ref()).map(|map| ArkitSlots::read(map, layout.dim()));
        let arkit = arkit.or(slots.transpose().map_err(in_scene)?.map(ArkitMap::Slots));
        let columns = arkit_columns(block)?;
        let is_stated = arkit.is_some();
        let arkit = ExpressionMap::new(ControlSpace::arkit52(columns), arkit, layout);
        let space = match block.map_or(SpaceKind::Gnm, |block| block.kind) {
            SpaceKind::Arkit52 => {
                let map = arkit.map_err(SceneError::Space)?;
                return Ok(SceneSpace { space: map.space().clone(), map: Ok(map.clone()), arkit: Ok(map) });
            }
            SpaceKind::Gnm => {
                block.map_or(Ok(()), |block| check_layout(block, layout)).map_err(in_scene)?;
                ControlSpace::gnm(layout)
            }
            SpaceKind::Gnm68 => {
                let segments = block.and_then(|block| block.segments.as_ref());
                let reduced = segments.map_or(Ok(GnmRegions::reduced()), |s| reduced_layout(s)).map_err(in_scene)?;
                block.map_or(Ok(()), |block| check_layout(block, &reduced)).map_err(in_scene)?;
                ControlSpace::gnm68_of(&reduced)
            }
        };
        if is_stated {
            arkit.as_ref().map_err(|e| SceneError::Space(e.clone()))?;
        }
        let map = ExpressionMap::new(space, None, layout).map_err(SceneError::Space)?;
        Ok(SceneSpace { space: map.space().clone(), map: Ok(map), arkit })
    }

    /// The space of an `orl` rig with these controls, which are at `rest` by default. An `arkit_map` is checked for its form alone: its slots
    /// are a `gnm` rig's, and this one has a map by names.
    ///
    /// # Errors
    /// `Load` - an `arkit_map` that is none; `Space` - a `gnm` or `gnm68` space, and a stated `arkit52` space that the rig's controls cannot take.
    pub fn of_orl(
        block: Option<&SpaceBlock>,
        controls: &ControlBinding,
        rest: &[f32],
    ) -> Result<SceneSpace, SceneError> {
        refuse_gnm_spaces(block, "orl")?;
        let columns = arkit_columns(block)?;
        let space = ControlSpace::arkit52(columns.clone());
        let map = match controls.layer() {
            ControlLayer::Raw => ExpressionMap::arkit_to_orl(columns, &bound_names(controls), rest),
            ControlLayer::Gui => {
                let missing = "raw controls; the names of this bundle are GUI controls, and it states no expression_space of kind arkit52, which opens the raw layer";
                Err(refused(SpaceKind::Arkit52.name(), "orl", missing))
            }
        };
        SceneSpace::of_names(block, space, map)
    }

    /// The space of a `gltf` rig, by the names of its targets and the joints of its eyes. An `arkit_map` is checked for its form alone.
    ///
    /// # Errors
    /// As [`SceneSpace::of_orl`].
    pub fn of_gltf(block: Option<&SpaceBlock>, model: &GltfModel) -> Result<SceneSpace, SceneError> {
        refuse_gnm_spaces(block, "gltf")?;
        let columns = arkit_columns(block)?;
        let space = ControlSpace::arkit52(columns.clone());
        SceneSpace::of_names(block, space, arkit_to_gltf(columns, model))
    }

    /// A map that goes by the names of a rig's controls must be there where the scene states its space.
    fn of_names(
        block: Option<&SpaceBlock>,
        space: ControlSpace,
        map: Result<ExpressionMap, ControlError>,
    ) -> Result<SceneSpace, SceneError> {
        match (block, map) {
            (Some(_), Err(error)) => Err(SceneError::Space(error)),
            (_, map) => Ok(SceneSpace { space, map: map.clone(), arkit: map }),
        }
    }

    /// The space of the vectors that the scene sends.
    #[must_use]
    pub fn space(&self) -> &ControlSpace {
        &self.space
    }

    /// The map from that space to the rig's controls.
    ///
    /// # Errors
    /// `Space`: a bundle that states no space and lists GUI controls, or has a glTF file without a face, takes its rig's controls only, with nothing
    /// in between.
    pub fn map(&self) -> Result<&ExpressionMap, ControlError> {
        self.map.as_ref().map_err(Clone::clone)
    }

    /// The map from ARKit weights to the rig's controls, whatever the space: that of an `arkit52` space, or of a `gnm` space that has an `arkit_map`.
    ///
    /// # Errors
    /// `Space`, naming ARKit and the rig, where nothing maps the one to the other.
    pub fn arkit(&self) -> Result<&ExpressionMap, ControlError> {
        self.arkit.as_ref().map_err(Clone::clone)
    }

    /// Writes the controls that a vector of the scene's space stands for; nothing is allocated.
    ///
    /// # Shapes
    /// weights: (`space().dim()`), controls: (C), the width of the rig's `set_controls`
    ///
    /// # Errors
    /// As [`SceneSpace::map`] and [`ExpressionMap::controls`]. The controls stay as they were.
    pub fn controls(&self, weights: &[f32], controls: &mut [f32]) -> Result<(), ControlError> {
        self.map()?.controls(weights, controls)
    }
}

/// The map from ARKit weights to the targets and eye joints of a glTF file; see [`ExpressionMap::arkit_to_gltf`].
///
/// # Errors
/// `Space` for a file without a face: neither a target named after a shape nor an eye joint.
pub fn arkit_to_gltf(columns: ArkitColumns, model: &GltfModel) -> Result<ExpressionMap, ControlError> {
    let GltfFace { targets, eyes } = GltfFace::of(model);
    let targets: Vec<MorphTarget> =
        targets.iter().map(|t| MorphTarget { mesh: &t.mesh, name: &t.name, control: t.control }).collect();
    let eyes = eyes.map(|eye| eye.map(|eye| EyeTurn { rotation: eye.rotation, left: eye.left, up: eye.up }));
    ExpressionMap::arkit_to_gltf(columns, &targets, eyes, model.controls().defaults())
}

/// Spaces of a rig without coefficients are ARKit's; of a map that it has no use for, the form is checked all the same.
fn refuse_gnm_spaces(block: Option<&SpaceBlock>, rig: &str) -> Result<(), SceneError> {
    let Some(block) = block else { return Ok(()) };
    if block.kind != SpaceKind::Arkit52 {
        return Err(SceneError::Space(refused(block.kind.name(), rig, "these need a rig of backend gnm")));
    }
    if let Some(map) = &block.arkit_map {
        ArkitSlots::read(map, usize::MAX).map_err(in_scene)?;
    }
    Ok(())
}

fn arkit_columns(block: Option<&SpaceBlock>) -> Result<ArkitColumns, SceneError> {
    match block.filter(|block| block.kind == SpaceKind::Arkit52) {
        Some(block) => block.columns().map_err(in_scene),
        None => Ok(ArkitColumns::of(ArkitOrder::Engine)),
    }
}

/// Checks what a GNM space states against the layout that it stands for. Names are those of either vocabulary: in another order they would mean
/// other controls.
fn check_layout(block: &SpaceBlock, layout: &GnmRegions) -> Result<(), LoadError> {
    let refused = |kind, field: &str, expected: String, found: String| {
        Err(LoadError::new(kind, format!("expression_space.{field}"), expected, found))
    };
    if let Some(dim) = block.dim.filter(|&dim| dim != layout.dim()) {
        let expected = format!("{}, the controls of the rig", layout.dim());
        return refused(LoadErrorKind::Value, "dim", expected, dim.to_string());
    }
    if let Some(segments) = block.segments.as_ref().filter(|segments| segments[..] != *layout.segments()) {
        return refused(LoadErrorKind::Value, "segments", tiling(layout.segments()), tiling(segments));
    }
    if let Some(names) = &block.names {
        let vocabularies = [GnmNames::HeadExt, GnmNames::Model].map(|vocabulary| layout.names(vocabulary));
        if !vocabularies.contains(names) {
            let differs = names.iter().zip(&vocabularies[0]).position(|(a, b)| a != b).unwrap_or(0);
            let expected = format!("the rig's own names, \"{}\" at {differs}", vocabularies[0][differs]);
            return refused(LoadErrorKind::Value, "names", expected, format!("\"{}\"", names[differs]));
        }
    }
    Ok(())
}

/// The layout of a reduced view from its segments, which end in the gaze.
fn reduced_layout(segments: &[Segment]) -> Result<GnmRegions, LoadError> {
    let gaze = GnmRegions::reduced().segments().last().cloned();
    match segments.split_last() {
        Some((last, regions)) if gaze.is_some_and(|gaze| (&gaze.name, gaze.count) == (&last.name, last.count)) => {
            GnmRegions::new(&regions.iter().map(|s| (s.name.as_str(), s.count)).collect::<Vec<_>>())
        }
        _ => {
            let expected = "gaze 4 as the last one";
            Err(LoadError::new(LoadErrorKind::Value, "expression_space.segments", expected, tiling(segments)))
        }
    }
}

/// `left_eye 16, right_eye 16, ...`
fn tiling(segments: &[Segment]) -> String {
    segments.iter().map(|s| format!("{} {}", s.name, s.count)).collect::<Vec<_>>().join(", ")
}

/// The names of the controls, without those that the rig does not have: no shape may be bound to one.
fn bound_names(controls: &ControlBinding) -> Vec<String> {
    let bound = controls.names().iter().zip(controls.slots());
    bound.map(|(name, slot)| slot.map(|_| name.clone()).unwrap_or_default()).collect()
}

fn refused(given: &str, rig: &str, missing: &str) -> ControlError {
    ControlError::Space { given: given.into(), rig: rig.into(), missing: missing.into() }
}

fn in_scene(error: LoadError) -> SceneError {
    SceneError::Load(error.in_file(SCENE_FILE))
}
