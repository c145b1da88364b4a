// Linear blend skinning: the one definition, put in front of every rig's stage. Owns bind group 1; a stage owns group 0.
// CPU twin: src/lbs.rs. Host side: src/gpu/skinning.rs.

struct LbsParams {
    vertex_count: u32,
    joint_count: u32,
    instance_count: u32,
    reserved: u32,
}

// V + 1 row offsets counted in influences, then the influences of all rows: joint, bits of the f32 weight.
@group(1) @binding(0) var<storage, read> lbs_influences: array<u32>;
// The affine rows of world * inverse(rest) * bind: (N, J, 3).
@group(1) @binding(1) var<storage, read> lbs_skin_rows: array<vec4<f32>>;
@group(1) @binding(2) var<uniform> lbs_params: LbsParams;

// The skinned point of one influence row and instance; weights are used as stored.
fn lbs_skin(row: u32, instance: u32, p: vec3<f32>) -> vec3<f32> {
    let entries = lbs_params.vertex_count + 1u;
    let end = lbs_influences[row + 1u];
    let rows = instance * lbs_params.joint_count * 3u;
    let point = vec4<f32>(p, 1.0);
    var sum = vec3<f32>(0.0);
    for (var i = lbs_influences[row]; i < end; i++) {
        let joint = rows + lbs_influences[entries + 2u * i] * 3u;
        let weight = bitcast<f32>(lbs_influences[entries + 2u * i + 1u]);
        let moved = vec3<f32>(
            dot(lbs_skin_rows[joint], point),
            dot(lbs_skin_rows[joint + 1u], point),
            dot(lbs_skin_rows[joint + 2u], point),
        );
        sum += weight * moved;
    }
    return sum;
}

// The rows of a matrix without its translation.
struct LbsLinear {
    x: vec3<f32>,
    y: vec3<f32>,
    z: vec3<f32>,
}

// What `lbs_skin` multiplies the point by: the weighted sum of the skin rows, for directions.
fn lbs_linear(row: u32, instance: u32) -> LbsLinear {
    let entries = lbs_params.vertex_count + 1u;
    let end = lbs_influences[row + 1u];
    let rows = instance * lbs_params.joint_count * 3u;
    var sum = LbsLinear();
    for (var i = lbs_influences[row]; i < end; i++) {
        let joint = rows + lbs_influences[entries + 2u * i] * 3u;
        let weight = bitcast<f32>(lbs_influences[entries + 2u * i + 1u]);
        sum.x += weight * lbs_skin_rows[joint].xyz;
        sum.y += weight * lbs_skin_rows[joint + 1u].xyz;
        sum.z += weight * lbs_skin_rows[joint + 2u].xyz;
    }
    return sum;
}
