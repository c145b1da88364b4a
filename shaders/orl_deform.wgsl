// A MetaHuman mesh: neutral + sparse packed deltas, then skinning. Stands behind lbs_common.wgsl and sparse_common.wgsl.
// CPU twin: orl::cpu::orl_deform. One workgroup per slice of vertices (x) and tile of instances (y).

struct OrlParams {
    vertex_count: u32,
    instance_count: u32,
    reserved_0: u32,
    reserved_1: u32,
}

// Per row the bits of the neutral position, and the vertex's index in file order.
@group(0) @binding(0) var<storage, read> neutral: array<vec4<u32>>;
// (N, V, 3), file order
@group(0) @binding(1) var<storage, read_write> positions: array<f32>;
@group(0) @binding(2) var<uniform> params: OrlParams;

@compute @workgroup_size(SPARSE_WORKGROUP)
fn orl_deform(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    let delta = sparse_gather(group.x, group.y, invocation);
    let item = sparse_item(group.x, invocation);
    let instance = group.y * sparse_tile_size + item.member;
    if !item.is_used || item.row >= params.vertex_count || instance >= params.instance_count {
        return;
    }
    let vertex = neutral[item.row];
    let p = lbs_skin(item.row, instance, bitcast<vec3<f32>>(vertex.xyz) + delta);
    let out = 3u * (instance * params.vertex_count + vertex.w);
    positions[out] = p.x;
    positions[out + 1u] = p.y;
    positions[out + 2u] = p.z;
}
