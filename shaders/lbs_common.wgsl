// Skinning, linear and by dual quaternions: the one definition, put in front of every rig's stage. Owns bind group 1; a stage owns group 0.
// CPU twins: src/lbs.rs, src/lbs/dual_quaternion.rs, which states the law. Host side: src/gpu/skinning.rs.

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

// Scaled by its largest component first: the square of a tiny vector would vanish, that of a huge one overflow.
fn lbs_unit(v: vec3<f32>) -> vec3<f32> {
    let largest = max(max(abs(v.x), abs(v.y)), abs(v.z));
    if !(largest > 0.0 && largest <= 3.4028234e38) {
        return vec3<f32>(0.0);
    }
    return normalize(v / largest);
}

// The square of the sine of the smallest angle between two columns that are not taken for parallel.
const LBS_LEAST_SQUARED_SINE: f32 = 1e-6;

// The index of an influence's first skin row.
fn lbs_row_of(influence: u32, instance: u32) -> u32 {
    let entries = lbs_params.vertex_count + 1u;
    return (instance * lbs_params.joint_count + lbs_influences[entries + 2u * influence]) * 3u;
}

fn lbs_weight(influence: u32) -> f32 {
    return bitcast<f32>(lbs_influences[lbs_params.vertex_count + 2u + 2u * influence]);
}

// The matrix of a skin row, without its translation.
fn lbs_matrix(joint: u32) -> mat3x3<f32> {
    let rows = mat3x3<f32>(lbs_skin_rows[joint].xyz, lbs_skin_rows[joint + 1u].xyz, lbs_skin_rows[joint + 2u].xyz);
    return transpose(rows);
}

fn lbs_translation(joint: u32) -> vec3<f32> {
    return vec3<f32>(lbs_skin_rows[joint].w, lbs_skin_rows[joint + 1u].w, lbs_skin_rows[joint + 2u].w);
}

// The rotation in a matrix.
fn lbs_rotation(m: mat3x3<f32>) -> mat3x3<f32> {
    let x = lbs_unit(m[0]);
    let across = cross(x, lbs_unit(m[1]));
    if !(dot(across, across) > LBS_LEAST_SQUARED_SINE) {
        return mat3x3<f32>(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    }
    let z = normalize(across);
    return mat3x3<f32>(x, cross(z, x), z);
}

// xyzw; by the component that is largest, so that nothing small is divided by.
fn lbs_quaternion(r: mat3x3<f32>) -> vec4<f32> {
    let d = vec3<f32>(r[0].x, r[1].y, r[2].z);
    let trace = d.x + d.y + d.z;
    let odd = vec3<f32>(r[1].z - r[2].y, r[2].x - r[0].z, r[0].y - r[1].x);
    let even = vec3<f32>(r[1].z + r[2].y, r[2].x + r[0].z, r[0].y + r[1].x);
    let most = max(max(d.x, d.y), d.z);
    var q = vec4<f32>(odd, 1.0 + trace);
    if trace < most {
        if d.x == most {
            q = vec4<f32>(1.0 - trace + 2.0 * d.x, even.z, even.y, odd.x);
        } else if d.y == most {
            q = vec4<f32>(even.z, 1.0 - trace + 2.0 * d.y, even.x, odd.y);
        } else {
            q = vec4<f32>(even.y, even.x, 1.0 - trace + 2.0 * d.z, odd.z);
        }
    }
    return normalize(q);
}

// a * b
fn lbs_product(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

fn lbs_conjugate(q: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(-q.xyz, q.w);
}

// Cosines below this are those of rotations half a turn apart: rounding decides their sign, and devices round differently.
const LBS_OPPOSED: f32 = 1e-4;

// Of a rotation's two quaternions the one in the hemisphere of `center`.
fn lbs_nearer(q: vec4<f32>, center: vec4<f32>) -> vec4<f32> {
    var side = dot(q, center);
    if abs(side) < LBS_OPPOSED {
        let axis = lbs_product(q, lbs_conjugate(center)).xyz;
        side = select(select(axis.z, axis.y, abs(axis.y) > 0.5), axis.x, abs(axis.x) > 0.5);
    }
    return select(q, -q, side < 0.0);
}

struct LbsStretch {
    // The weighted sum of all stretches.
    matrix: mat3x3<f32>,
    // The rotation and skin row of the influence that weighs most, the first of equals.
    rotation: mat3x3<f32>,
    joint: u32,
}

fn lbs_stretch(row: u32, instance: u32) -> LbsStretch {
    let end = lbs_influences[row + 1u];
    var sum = LbsStretch();
    var most = 0.0;
    for (var i = lbs_influences[row]; i < end; i++) {
        let joint = lbs_row_of(i, instance);
        let weight = lbs_weight(i);
        let m = lbs_matrix(joint);
        let r = lbs_rotation(m);
        sum.matrix += weight * (transpose(r) * m);
        if weight > most {
            most = weight;
            sum.rotation = r;
            sum.joint = joint;
        }
    }
    return sum;
}

// The point of one influence row and instance by dual quaternions.
fn lbs_dual_skin(row: u32, instance: u32, p: vec3<f32>) -> vec3<f32> {
    let end = lbs_influences[row + 1u];
    if end < lbs_influences[row] + 2u {
        return lbs_skin(row, instance, p);
    }
    let stretch = lbs_stretch(row, instance);
    let stretched = stretch.matrix * p;
    let at = stretch.rotation * stretched + lbs_translation(stretch.joint);
    let center = lbs_quaternion(stretch.rotation);
    var blend = vec4<f32>(0.0);
    var moved = vec4<f32>(0.0);
    for (var i = lbs_influences[row]; i < end; i++) {
        let joint = lbs_row_of(i, instance);
        let r = lbs_rotation(lbs_matrix(joint));
        let q = lbs_weight(i) * lbs_nearer(lbs_quaternion(r), center);
        blend += q;
        moved += lbs_product(vec4<f32>(r * stretched + lbs_translation(joint) - at, 0.0), q);
    }
    return at + lbs_product(moved, lbs_conjugate(blend)).xyz / dot(blend, blend);
}

// What directions are multiplied by: the blended rotation times the blended stretch.
fn lbs_dual_linear(row: u32, instance: u32) -> LbsLinear {
    let end = lbs_influences[row + 1u];
    if end < lbs_influences[row] + 2u {
        return lbs_linear(row, instance);
    }
    let stretch = lbs_stretch(row, instance);
    let center = lbs_quaternion(stretch.rotation);
    var blend = vec4<f32>(0.0);
    for (var i = lbs_influences[row]; i < end; i++) {
        let r = lbs_rotation(lbs_matrix(lbs_row_of(i, instance)));
        blend += lbs_weight(i) * lbs_nearer(lbs_quaternion(r), center);
    }
    let q = normalize(blend);
    var turned = stretch.matrix;
    for (var c = 0u; c < 3u; c++) {
        let v = stretch.matrix[c];
        turned[c] = v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
    }
    let rows = transpose(turned);
    return LbsLinear(rows[0], rows[1], rows[2]);
}
