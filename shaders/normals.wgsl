// Area-weighted vertex normals, gathered over each vertex's triangles: no atomics, a fixed order of additions.
// CPU twin: src/normals.rs. One invocation per vertex (x) and instance (y).

struct NormalsParams {
    vertex_count: u32,
    instance_count: u32,
    reserved_0: u32,
    reserved_1: u32,
}

// (N, V, 3)
@group(0) @binding(0) var<storage, read> positions: array<f32>;
// (T, 3)
@group(0) @binding(1) var<storage, read> faces: array<u32>;
// V + 1 row offsets counted in triangles, then the triangle ids of all rows.
@group(0) @binding(2) var<storage, read> incidence: array<u32>;
// (N, V, 3)
@group(0) @binding(3) var<storage, read_write> vertex_normals: array<f32>;
@group(0) @binding(4) var<uniform> params: NormalsParams;

fn position(vertex: u32) -> vec3<f32> {
    return vec3<f32>(positions[3u * vertex], positions[3u * vertex + 1u], positions[3u * vertex + 2u]);
}

// Scaled by its largest component first: the square of a tiny area would vanish, that of a huge one overflow.
fn unit_or_zero(v: vec3<f32>) -> vec3<f32> {
    let largest = max(max(abs(v.x), abs(v.y)), abs(v.z));
    if !(largest > 0.0 && largest <= 3.4028234e38) {
        return vec3<f32>(0.0);
    }
    return normalize(v / largest);
}

@compute @workgroup_size(64)
fn normals(@builtin(global_invocation_id) id: vec3<u32>) {
    let vertex = id.x;
    if vertex >= params.vertex_count || id.y >= params.instance_count {
        return;
    }
    let first_vertex = id.y * params.vertex_count;
    let triangles = params.vertex_count + 1u;
    let end = incidence[vertex + 1u];
    var sum = vec3<f32>(0.0);
    for (var i = incidence[vertex]; i < end; i++) {
        let corner = 3u * incidence[triangles + i];
        let a = position(first_vertex + faces[corner]);
        let b = position(first_vertex + faces[corner + 1u]);
        let c = position(first_vertex + faces[corner + 2u]);
        sum += cross(b - a, c - a);
    }
    let n = unit_or_zero(sum);
    let out = 3u * (first_vertex + vertex);
    vertex_normals[out] = n.x;
    vertex_normals[out + 1u] = n.y;
    vertex_normals[out + 2u] = n.z;
}
