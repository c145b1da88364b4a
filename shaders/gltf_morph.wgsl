// The vertices of a glTF file: base + morph targets, then skinning. Stands behind lbs_common.wgsl and sparse_common.wgsl.
// CPU twins: gltf::cpu::gltf_morph, gltf_morph_normals, gltf_morph_tangents: one compiled stage for each attribute, of all parts of the file.
// One workgroup per slice of vertices (x) and tile of instances (y).

struct GltfParams {
    vertex_count: u32,
    instance_count: u32,
    reserved_0: u32,
    reserved_1: u32,
}

// Per row the bits of the base attribute, and the vertex's index in file order; behind those of tangents the bits of their signs, four to a
// vec4, row by row.
@group(0) @binding(0) var<storage, read> base: array<vec4<u32>>;
// (N, V, 3), tangents (N, V, 4), file order
@group(0) @binding(1) var<storage, read_write> posed: array<f32>;
@group(0) @binding(2) var<uniform> params: GltfParams;

const POSITIONS = 0u;
const NORMALS = 1u;
const TANGENTS = 2u;

// One of the above.
override attribute_kind: u32 = 0u;

const LINEAR = 0u;

// Linear, or else by dual quaternions; the stage is compiled for one of them.
override skinning: u32 = LINEAR;

fn linear(row: u32, instance: u32) -> LbsLinear {
    if skinning == LINEAR {
        return lbs_linear(row, instance);
    }
    return lbs_dual_linear(row, instance);
}

// By the cofactor matrix, which a flat matrix has too; turned over where the matrix mirrors.
fn turn_normal(m: LbsLinear, n: vec3<f32>) -> vec3<f32> {
    let yz = cross(m.y, m.z);
    let turned = vec3<f32>(dot(yz, n), dot(cross(m.z, m.x), n), dot(cross(m.x, m.y), n));
    return select(turned, -turned, dot(m.x, yz) < 0.0);
}

// Products of three entries of a tiny or huge matrix would leave the range of f32.
fn scaled(m: LbsLinear) -> LbsLinear {
    let most = max(max(abs(m.x), abs(m.y)), abs(m.z));
    let largest = max(max(most.x, most.y), most.z);
    if !(largest > 0.0 && largest <= 3.4028234e38) {
        return LbsLinear();
    }
    return LbsLinear(m.x / largest, m.y / largest, m.z / largest);
}

@compute @workgroup_size(SPARSE_WORKGROUP)
fn gltf_morph(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    let delta = sparse_gather(group.x, group.y, invocation);
    let item = sparse_item(group.x, invocation);
    let instance = group.y * sparse_tile_size + item.member;
    if !item.is_used || item.row >= params.vertex_count || instance >= params.instance_count {
        return;
    }
    let row = base[item.row];
    var v = bitcast<vec3<f32>>(row.xyz) + delta;
    var width = 3u;
    // The influences lie in file order: the tables of all attributes share them.
    if attribute_kind == POSITIONS {
        if skinning == LINEAR {
            v = lbs_skin(row.w, instance, v);
        } else {
            v = lbs_dual_skin(row.w, instance, v);
        }
    } else {
        let m = scaled(linear(row.w, instance));
        v = lbs_unit(v);
        if attribute_kind == NORMALS {
            v = turn_normal(m, v);
        } else {
            v = vec3<f32>(dot(m.x, v), dot(m.y, v), dot(m.z, v));
            width = 4u;
        }
        v = lbs_unit(v);
    }
    let out = width * (instance * params.vertex_count + row.w);
    posed[out] = v.x;
    posed[out + 1u] = v.y;
    posed[out + 2u] = v.z;
    if attribute_kind == TANGENTS {
        posed[out + 3u] = bitcast<f32>(base[params.vertex_count + item.row / 4u][item.row % 4u]);
    }
}
