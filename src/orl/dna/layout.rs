//! The order of the fields in the file, for every struct of it.

use super::codec::{
    Element, Field, Reader, Writer, code_fields, columns, inside, layout, read_code, read_each, read_fields, runs,
    unequal, write_each,
};
use super::codes::*;
use super::extensions::*;
use super::rig::*;
use crate::error::LoadError;

code_fields!(
    TranslationUnit,
    RotationUnit,
    Direction,
    Activation,
    SolverKind,
    AutomaticRadius,
    DistanceMethod,
    NormalizeMethod,
    RbfFunction,
    TwistAxis,
    RotationRepresentation,
    OperationKind,
);

columns!(MeshChannel { mesh, channel });
columns!(Conditional { input, output, from, to, slope, cut });
columns!(PsdEntry { row, column, value });
columns!(OperationRef { set, operation });
columns!(JointParameter { key, value });

impl Field for [Direction; 3] {
    fn read(r: &mut Reader) -> Result<Self, LoadError> {
        Ok([Field::read(r)?, Field::read(r)?, Field::read(r)?])
    }
    fn write(&self, w: &mut Writer) {
        self.iter().for_each(|axis| axis.write(w));
    }
}

layout!(Metadata { key, value });
layout!(Descriptor {
    name,
    archetype,
    gender,
    age,
    metadata,
    translation_unit,
    rotation_unit,
    axes,
    lod_count,
    max_lod,
    complexity,
    database,
});
layout!(LodMap { lods, lists });
layout!(Definition {
    lod_joints,
    lod_channels,
    lod_animated_maps,
    lod_meshes,
    gui_control_names,
    raw_control_names,
    joint_names,
    channel_names,
    animated_map_names,
    mesh_names,
    mesh_channels,
    joint_parents,
    neutral_translations,
    neutral_rotations,
});
layout!(JointGroup { lods, inputs, outputs, values, joints });
layout!(Channels { lods, inputs, outputs });
layout!(Layouts { positions, uvs, normals });
layout!(SkinRow { weights, joints });
layout!(Target { deltas, vertices, channel });
layout!(NetworkLayer { biases, weights, activation, parameters });
layout!(Networks { control_names, lod_networks, region_names, region_networks, networks });
layout!(Rbf { lod_solvers, solvers, poses });
layout!(RbfPose { name, scale });
layout!(RbfOutputs { control_names, poses });
layout!(RbfPoseOutput { inputs, outputs, weights });
layout!(JointRepresentation { translation, rotation, scale });
layout!(TwistSwing { twists, swings });
layout!(TwistSwingSetup { weights, joints, inputs, axis });
layout!(OperationGraph { types, joint_parameters, joint_inputs, joint_outputs });
layout!(OperationType { lod_operations, sets });
layout!(Operation { parameters, dependencies, kind });

/// The four parts of the behavior: in 2.1 each has a section of its own, later they follow one another.
pub(super) const BEHAVIOR_PARTS: usize = 4;

/// Reads one part of the behavior.
pub(super) fn read_behavior_part(part: usize, behavior: &mut Behavior, r: &mut Reader) -> Result<(), LoadError> {
    match part {
        0 => read_fields!(r, behavior, psd_count, gui_to_raw, psd),
        1 => read_fields!(r, behavior, joint_row_count, joint_column_count, joint_groups),
        2 => read_fields!(r, behavior, channels),
        _ => read_fields!(r, behavior, animated_map_lods, animated_maps),
    }
    Ok(())
}

/// Writes one part of the behavior.
pub(super) fn write_behavior_part(part: usize, behavior: &Behavior, w: &mut Writer) {
    let Behavior {
        psd_count,
        gui_to_raw,
        psd,
        joint_row_count,
        joint_column_count,
        joint_groups,
        channels,
        animated_map_lods,
        animated_maps,
    } = behavior;
    match part {
        0 => {
            psd_count.write(w);
            gui_to_raw.write(w);
            psd.write(w);
        }
        1 => {
            joint_row_count.write(w);
            joint_column_count.write(w);
            joint_groups.write(w);
        }
        2 => channels.write(w),
        _ => {
            animated_map_lods.write(w);
            animated_maps.write(w);
        }
    }
}

impl Field for Behavior {
    fn read(r: &mut Reader) -> Result<Self, LoadError> {
        let mut behavior = Behavior::default();
        (0..BEHAVIOR_PARTS).try_for_each(|part| read_behavior_part(part, &mut behavior, r))?;
        Ok(behavior)
    }
    fn write(&self, w: &mut Writer) {
        (0..BEHAVIOR_PARTS).for_each(|part| write_behavior_part(part, self, w));
    }
}

impl Field for Mesh {
    fn read(r: &mut Reader) -> Result<Self, LoadError> {
        let skip_targets = !r.blend_shapes;
        let read = |r: &mut Reader| {
            let mut mesh = Mesh::default();
            read_fields!(r, mesh, positions, uvs, normals, layouts, faces, max_influences, skin);
            if !skip_targets {
                read_fields!(r, mesh, targets);
            }
            Ok(mesh)
        };
        r.sized(read, skip_targets)
    }
    fn write(&self, w: &mut Writer) {
        let Mesh { positions, uvs, normals, layouts, faces, max_influences, skin, targets } = self;
        w.sized(|w| {
            positions.write(w);
            uvs.write(w);
            normals.write(w);
            layouts.write(w);
            faces.write(w);
            max_influences.write(w);
            skin.write(w);
            targets.write(w);
        });
    }
}
runs!(Mesh);

impl Field for Network {
    fn read(r: &mut Reader) -> Result<Self, LoadError> {
        let read = |r: &mut Reader| {
            let mut network = Network::default();
            read_fields!(r, network, outputs, inputs, layers);
            Ok(network)
        };
        r.sized(read, false)
    }
    fn write(&self, w: &mut Writer) {
        let Network { outputs, inputs, layers } = self;
        w.sized(|w| {
            outputs.write(w);
            inputs.write(w);
            layers.write(w);
        });
    }
}
runs!(Network);

impl Field for RbfSolver {
    fn read(r: &mut Reader) -> Result<Self, LoadError> {
        let read = |r: &mut Reader| {
            let mut solver = RbfSolver::default();
            read_fields!(r, solver, name, inputs, poses, values, radius, weight_threshold, kind);
            read_fields!(r, solver, automatic_radius, distance, normalize, function, twist_axis);
            Ok(solver)
        };
        r.sized(read, false)
    }
    fn write(&self, w: &mut Writer) {
        let RbfSolver { name, inputs, poses, values, radius, weight_threshold, .. } = self;
        w.sized(|w| {
            name.write(w);
            inputs.write(w);
            poses.write(w);
            values.write(w);
            radius.write(w);
            weight_threshold.write(w);
            self.kind.write(w);
            self.automatic_radius.write(w);
            self.distance.write(w);
            self.normalize.write(w);
            self.function.write(w);
            self.twist_axis.write(w);
        });
    }
}
runs!(RbfSolver);

impl Field for Conventions {
    fn read(r: &mut Reader) -> Result<Self, LoadError> {
        let mut conventions = Conventions::default();
        let named = |e, name| inside(e, name);
        conventions.rotation_sequence = u32::read(r).and_then(read_code).map_err(|e| named(e, "rotation_sequence"))?;
        for sign in &mut conventions.rotation_signs {
            *sign = u32::read(r).map_err(|e| named(e, "rotation_signs"))? as i32;
        }
        if r.version >= 8 {
            let winding = r.take(1).and_then(|b| read_code(b[0].into()));
            conventions.face_winding = winding.map_err(|e| named(e, "face_winding"))?;
        }
        Ok(conventions)
    }
    fn write(&self, w: &mut Writer) {
        self.rotation_sequence.code().write(w);
        self.rotation_signs.iter().for_each(|sign| (*sign as u32).write(w));
        if w.version >= 8 {
            w.put(&[self.face_winding.code() as u8]);
        }
    }
}
