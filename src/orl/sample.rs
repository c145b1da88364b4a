//! The procedural head as a MetaHuman-like rig.

mod behavior;
mod controls;
mod correctives;
mod fields;
mod jaw;
mod joints;
mod meshes;
mod mouth;
mod skin;
mod table;

use super::dna::{
    Behavior, Channels, Conditional, Definition, Descriptor, Direction, Dna, MeshChannel, Metadata, PsdEntry,
};
use crate::head::canvas::Field;
use crate::head::{Head, HeadSize};
use behavior::{Carried, carried, joint_groups, leading, lists};
use controls::{RawControl, raw_controls};
use correctives::{Corrective, Motions, correctives};
use joints::{Joint, joints};
use meshes::{MESHES, Shape, meshes};
use std::ops::Range;

/// The file version that [`sample`] is meant to be written as: 2.3. It has no networks, but a version without a place for them is rare.
pub const FILE_VERSION: u16 = 3;

/// The procedural head as a rig, in centimetres and degrees: all raw controls that MetaHumans have, the sliders that drive them, and a face
/// that does what their names say.
///
/// | | full | small | tiny |
/// |---|---|---|---|
/// | vertices of the finest head mesh | 24,049 | about 1,600 | about 260, without openings for eyes and mouth |
/// | joints | 870 | 60 | 42 |
/// | GUI, raw controls | 174, 257 | the same | the same |
/// | correctives | 550 | 60 | 12 |
/// | blend shape channels | 820 | 310 | 206 |
/// | levels of detail | 8 | 3 | 1 |
///
/// The law: the same rig on every call, whatever the number of threads. A control's motion is what the joints of the face do, as a skin
/// smooths it, plus a blend shape for the rest; the jaw, the eyes, the teeth and the tongue turn as joints. The two sides are images of each
/// other. The turns of the head have no slider, as in real rigs, where the body's animation does them.
///
/// # Source     the magnitudes of MetaHumans; no captured data
#[must_use]
pub fn sample(size: HeadSize) -> Dna {
    let mut plan = Plan::of(size);
    let controls = raw_controls();
    let finest = plan.geometry[0].head.build();
    let motions = Motions::new(&finest, &controls);
    let correctives = correctives(&motions, &controls, plan.correctives);
    let joints = joints(&finest, plan.joints_by_lod[0]);
    plan.joints_by_lod.iter_mut().for_each(|count| *count = joints::whole_pairs(&joints, *count));

    let mut carried_by_control: Carried = carried(&joints, motions.raw.iter(), 0);
    let fields = correctives.iter().map(|(_, field)| field);
    // The joints that coarse levels keep have no correctives, so that these need not be evaluated there.
    let first_fine = plan.joints_by_lod[plan.joints_by_lod.len() / 2];
    carried_by_control.extend(carried(&joints, fields, first_fine));

    let mut dna = Dna { version: FILE_VERSION, descriptor: descriptor(size, plan.lods()), ..Dna::default() };
    let channels = channels(&plan, &controls, &correctives, &motions);
    let channels_by_lod = plan.channels_by_lod(&channels);
    dna.behavior = behavior(&plan, &controls, &correctives, &channels, &channels_by_lod);
    dna.behavior.joint_groups = joint_groups(&joints, &controls, &carried_by_control, &plan.joints_by_lod);
    dna.behavior.joint_row_count = (9 * joints.len()) as u16;
    dna.behavior.joint_column_count = (controls.len() + correctives.len()) as u16;

    let definition = &mut dna.definition;
    joints::define(&joints, definition);
    (definition.gui_control_names, dna.behavior.gui_to_raw) = controls::gui(&controls);
    definition.raw_control_names = controls.iter().map(RawControl::full_name).collect();
    definition.channel_names = channels.iter().map(|channel| channel.name.clone()).collect();
    name_maps(&plan, &controls, definition);
    definition.lod_joints = leading(&plan.joints_by_lod);
    definition.lod_channels = leading(&channels_by_lod);

    let correctives: Vec<Corrective> = correctives.into_iter().map(|(corrective, _)| corrective).collect();
    drop(motions);
    let scene = Scene { plan: &plan, controls: &controls, correctives: &correctives, channels: &channels };
    for (index, geometry) in plan.geometry.iter().enumerate() {
        let count = channels_by_lod[geometry.lods.start];
        let joints = &joints[..plan.joints_by_lod[geometry.lods.end - 1]];
        scene.add_meshes(&mut dna, index, joints, &carried_by_control, count);
    }
    let of_level = |lod: usize| plan.geometry.iter().position(|g| g.lods.contains(&lod)).unwrap_or(0);
    let meshes = |geometry: usize| (0..MESHES.len()).map(move |mesh| (geometry * MESHES.len() + mesh) as u16);
    dna.definition.lod_meshes = lists((0..plan.lods()).map(|lod| meshes(of_level(lod)).collect()));
    dna
}

/// What a size has.
struct Plan {
    geometry: Vec<Geometry>,
    /// How many leading joints each level has.
    joints_by_lod: Vec<usize>,
    correctives: usize,
    wrinkles: bool,
    /// Animated maps by level.
    maps_by_lod: Vec<usize>,
}

/// One head and the levels that show it.
struct Geometry {
    head: Drawing,
    lods: Range<usize>,
    shapes: Shapes,
    /// How many joints of the surface move one vertex at most.
    nearest: usize,
}

#[derive(Clone, Copy)]
enum Drawing {
    Fine,
    Of(HeadSize),
}

impl Drawing {
    fn build(self) -> Head {
        match self {
            Drawing::Fine => Head::build_fine(),
            Drawing::Of(size) => Head::build(size),
        }
    }
}

/// Which channels a level has.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Shapes {
    None,
    /// Those that ARKit shapes lead to.
    Arkit,
    /// Those of raw controls.
    Raw,
    All,
}

impl Plan {
    fn of(size: HeadSize) -> Plan {
        let geometry = |head, lods, shapes, nearest| Geometry { head, lods, shapes, nearest };
        let of = Drawing::Of;
        match size {
            HeadSize::Full => Plan {
                geometry: vec![
                    geometry(Drawing::Fine, 0..1, Shapes::All, 9),
                    geometry(of(HeadSize::Full), 1..2, Shapes::Raw, 8),
                    geometry(of(HeadSize::Small), 2..4, Shapes::Arkit, 6),
                    geometry(of(HeadSize::Small), 4..6, Shapes::None, 4),
                    geometry(of(HeadSize::Small), 6..8, Shapes::None, 2),
                ],
                joints_by_lod: vec![870, 700, 500, 300, 200, 120, 72, 42],
                correctives: 550,
                wrinkles: true,
                maps_by_lod: vec![80, 80, 40, 20, 0, 0, 0, 0],
            },
            HeadSize::Small => Plan {
                geometry: vec![
                    geometry(of(HeadSize::Small), 0..1, Shapes::All, 4),
                    geometry(of(HeadSize::Small), 1..2, Shapes::Arkit, 4),
                    geometry(of(HeadSize::Small), 2..3, Shapes::None, 2),
                ],
                joints_by_lod: vec![60, 60, 42],
                correctives: 60,
                wrinkles: false,
                maps_by_lod: vec![20, 10, 0],
            },
            HeadSize::Tiny => Plan {
                geometry: vec![geometry(of(HeadSize::Tiny), 0..1, Shapes::All, 2)],
                joints_by_lod: vec![42],
                correctives: 12,
                wrinkles: false,
                maps_by_lod: vec![6],
            },
        }
    }

    fn lods(&self) -> usize {
        self.joints_by_lod.len()
    }

    fn channels_by_lod(&self, channels: &[Channel]) -> Vec<usize> {
        let count = |geometry: &Geometry| channels.iter().filter(|c| c.level <= geometry.shapes).count();
        self.geometry.iter().flat_map(|g| g.lods.clone().map(move |_| count(g))).collect()
    }
}

/// One blend shape channel: which control drives it, and what it shows of that control's motion.
struct Channel {
    name: String,
    /// Control index.
    input: usize,
    wrinkles: bool,
    /// The coarsest levels that have it.
    level: Shapes,
}

/// All channels; those that stay longest come first.
fn channels(
    plan: &Plan,
    controls: &[RawControl],
    correctives: &[(Corrective, Field)],
    motions: &Motions,
) -> Vec<Channel> {
    let mut channels = vec![];
    let moving = || controls.iter().enumerate().filter(|(index, _)| !motions.raw[*index].is_empty());
    for level in [Shapes::Arkit, Shapes::Raw] {
        for (input, control) in moving().filter(|(_, c)| c.family.arkit == (level == Shapes::Arkit)) {
            channels.push(Channel { name: control.name.clone(), input, wrinkles: false, level });
        }
    }
    for (input, control) in moving().filter(|(_, c)| c.family.wrinkles && plan.wrinkles) {
        channels.push(Channel {
            name: format!("{}_wrinkles", control.name),
            input,
            wrinkles: true,
            level: Shapes::Raw,
        });
    }
    for (index, (corrective, _)) in correctives.iter().enumerate() {
        let factors: Vec<&str> = corrective.factors.iter().map(|f| controls[*f].name.as_str()).collect();
        let input = controls.len() + index;
        channels.push(Channel { name: factors.join("_"), input, wrinkles: false, level: Shapes::All });
    }
    channels
}

fn descriptor(size: HeadSize, lods: usize) -> Descriptor {
    const OTHER_ARCHETYPE: u16 = 5;
    const OTHER_GENDER: u16 = 2;
    let pair = |key: &str, value: &str| Metadata { key: key.into(), value: value.into() };
    Descriptor {
        name: format!("rigeval sample, {}", format!("{size:?}").to_lowercase()),
        archetype: OTHER_ARCHETYPE,
        gender: OTHER_GENDER,
        metadata: vec![pair("generator", concat!("rigeval ", env!("CARGO_PKG_VERSION"))), pair("origin", "procedural")],
        // As MetaHumans have it, whose left is at +X too: right is the viewer's.
        axes: [Direction::Right, Direction::Up, Direction::Front],
        lod_count: lods as u16,
        complexity: "procedural".into(),
        database: "rigeval".into(),
        ..Descriptor::default()
    }
}

fn behavior(
    plan: &Plan,
    controls: &[RawControl],
    correctives: &[(Corrective, Field)],
    channels: &[Channel],
    channels_by_lod: &[usize],
) -> Behavior {
    let narrow = |counts: &[usize]| counts.iter().map(|&count| count as u16).collect();
    let factors = |(index, (corrective, _)): (usize, &(Corrective, Field))| {
        let row = (controls.len() + index) as u16;
        let entry = move |factor: &usize| PsdEntry { row, column: *factor as u16, value: 1.0 };
        corrective.factors.iter().map(entry).collect::<Vec<_>>()
    };
    Behavior {
        psd_count: correctives.len() as u16,
        psd: correctives.iter().enumerate().flat_map(factors).collect(),
        channels: Channels {
            lods: narrow(channels_by_lod),
            inputs: channels.iter().map(|channel| channel.input as u16).collect(),
            outputs: (0..channels.len() as u16).collect(),
        },
        animated_map_lods: narrow(&plan.maps_by_lod),
        animated_maps: (0..plan.maps_by_lod[0] as u16).map(map_row).collect(),
        ..Behavior::default()
    }
}

/// Map k follows control k: the upper face comes first.
fn map_row(index: u16) -> Conditional {
    Conditional { input: index, output: index, from: 0.0, to: 1.0, slope: 1.0, cut: 0.0 }
}

fn name_maps(plan: &Plan, controls: &[RawControl], definition: &mut Definition) {
    let name = |control: &RawControl| format!("head_wm1_normal.{}", control.name);
    definition.animated_map_names = controls.iter().take(plan.maps_by_lod[0]).map(name).collect();
    definition.lod_animated_maps = leading(&plan.maps_by_lod);
}

/// What all meshes of the rig share.
struct Scene<'a> {
    plan: &'a Plan,
    controls: &'a [RawControl],
    correctives: &'a [Corrective],
    channels: &'a [Channel],
}

impl Scene<'_> {
    /// Adds the meshes of one geometry with the first `count` channels.
    fn add_meshes(&self, dna: &mut Dna, index: usize, joints: &[Joint], carried: &Carried, count: usize) {
        let geometry = &self.plan.geometry[index];
        let head = geometry.head.build();
        let motions = Motions::new(&head, self.controls);
        let fields: Vec<Field> = self.channels[..count].iter().map(|channel| self.field(&motions, channel)).collect();
        let shapes: Vec<Shape<'_>> = (0..count)
            .map(|channel| {
                let Channel { input, wrinkles, .. } = self.channels[channel];
                // The joints carry the motion, not its wrinkles.
                let carried: &[_] = if wrinkles { &[] } else { &carried[input] };
                let control = self.controls.get(input).filter(|_| !wrinkles);
                Shape { channel, field: &fields[channel], carried, jaw: control.and_then(jaw::jaw_motion) }
            })
            .collect();
        let skin = skin::skin(&head, joints, geometry.nearest);
        for ((name, _), mesh) in MESHES.iter().zip(meshes(&head, &motions.canvas.normals, joints, &skin, &shapes)) {
            let number = dna.meshes.len() as u16;
            let of_target = |target: &super::dna::Target| MeshChannel { mesh: number, channel: target.channel };
            dna.definition.mesh_channels.extend(mesh.targets.iter().map(of_target));
            dna.definition.mesh_names.push(format!("{name}_lod{}_mesh", geometry.lods.start));
            dna.meshes.push(mesh);
        }
    }

    fn field(&self, motions: &Motions, channel: &Channel) -> Field {
        match channel.input.checked_sub(self.controls.len()) {
            Some(corrective) => motions.corrective(&self.correctives[corrective]),
            None if channel.wrinkles => motions.canvas.wrinkles(&motions.raw[channel.input]),
            None => motions.raw[channel.input].clone(),
        }
    }
}
