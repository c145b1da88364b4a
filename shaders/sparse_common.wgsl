// Weighted sums of packed sparse deltas: the one gather, put between lbs_common and a rig's stage. Owns bind group 2.
// CPU twin: sparse::sparse_gather. Order in memory: src/sparse/slices.rs. Host side: src/gpu/sparse.rs.
//
// One workgroup sums one slice of rows (x) for one tile of instances (y). A slice of few rows has long ones: the workgroup's invocations
// share each row, as many as the slice leaves over, so that every slice takes about as many steps.

struct SparseParams {
    // vec4s from one tile to the next in `sparse_weights`
    tile_stride: u32,
    reserved_0: u32,
    reserved_1: u32,
    reserved_2: u32,
}

// Per slice: first word of its entries, length of its longest row, rows (a power of two, at most 64), first row.
@group(2) @binding(0) var<storage, read> sparse_slices: array<vec4<u32>>;
// Per slice two planes of (length, rows) words: target and x, then y and z.
@group(2) @binding(1) var<storage, read> sparse_entries: array<u32>;
// Per tile the mask of the targets that any of its instances moves, then the coefficients, (targets, tile size).
@group(2) @binding(2) var<storage, read> sparse_weights: array<vec4<u32>>;
@group(2) @binding(3) var<uniform> sparse_params: SparseParams;

// Instances of a tile: 1 or 4.
override sparse_tile_size: u32 = 4u;
// Words of a mask: a multiple of 4.
override sparse_mask_words: u32 = 2048u;

const SPARSE_WORKGROUP = 256u;

var<workgroup> sparse_mask: array<u32, sparse_mask_words>;
// What the invocations of one row hand to the one that adds them up: one axis of four instances, or three axes of one.
var<workgroup> sparse_partials: array<vec4<f32>, SPARSE_WORKGROUP>;

// Sums for the instances of a tile; a tile of one uses x alone.
struct SparseSums {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}

// What an invocation is left with after the gather: a row and a member of the tile, where `is_used`.
struct SparseItem {
    row: u32,
    member: u32,
    is_used: bool,
}

fn sparse_item(slice: u32, invocation: u32) -> SparseItem {
    let rows = sparse_slices[slice].z;
    let member = invocation / rows;
    return SparseItem(sparse_slices[slice].w + invocation % rows, member, member < sparse_tile_size);
}

fn sparse_load_mask(first: u32, invocation: u32) {
    for (var i = invocation; 4u * i < sparse_mask_words; i += SPARSE_WORKGROUP) {
        let words = sparse_weights[first + i];
        sparse_mask[4u * i] = words.x;
        sparse_mask[4u * i + 1u] = words.y;
        sparse_mask[4u * i + 2u] = words.z;
        sparse_mask[4u * i + 3u] = words.w;
    }
}

fn sparse_coefficients(first: u32, target_index: u32) -> vec4<f32> {
    if sparse_tile_size == 1u {
        return vec4<f32>(bitcast<f32>(sparse_weights[first + target_index / 4u][target_index % 4u]), 0.0, 0.0, 0.0);
    }
    return bitcast<vec4<f32>>(sparse_weights[first + target_index]);
}

// The sum of one component over the invocations of one row, in their order.
fn sparse_taken_over(invocation: u32, rows: u32, component: u32) -> f32 {
    var sum = 0.0;
    for (var at = invocation % rows; at < SPARSE_WORKGROUP; at += rows) {
        sum += sparse_partials[at][component];
    }
    return sum;
}

// The deltas of one item times their coefficients. To be called by the whole workgroup: it holds barriers.
fn sparse_gather(slice: u32, tile: u32, invocation: u32) -> vec3<f32> {
    let first_word = sparse_slices[slice].x;
    let rows = sparse_slices[slice].z;
    let plane = sparse_slices[slice].y * rows;
    let mask = tile * sparse_params.tile_stride;
    let coefficients = mask + sparse_mask_words / 4u;
    sparse_load_mask(mask, invocation);
    workgroupBarrier();

    var sums = SparseSums();
    for (var at = invocation; at < plane; at += SPARSE_WORKGROUP) {
        let word_0 = sparse_entries[first_word + at];
        let target_index = word_0 & 0xffffu;
        if ((sparse_mask[target_index / 32u] >> (target_index % 32u)) & 1u) == 1u {
            let word_1 = bitcast<i32>(sparse_entries[first_word + plane + at]);
            let c = sparse_coefficients(coefficients, target_index);
            sums.x += c * f32(bitcast<i32>(word_0) >> 16u);
            sums.y += c * f32(extractBits(word_1, 0u, 16u));
            sums.z += c * f32(word_1 >> 16u);
        }
    }

    let member = invocation / rows;
    let is_item = member < sparse_tile_size;
    var delta = vec3<f32>(0.0);
    if sparse_tile_size == 1u {
        sparse_partials[invocation] = vec4<f32>(sums.x.x, sums.y.x, sums.z.x, 0.0);
        workgroupBarrier();
        if is_item {
            for (var axis = 0u; axis < 3u; axis++) {
                delta[axis] = sparse_taken_over(invocation, rows, axis);
            }
        }
        return delta;
    }
    sparse_partials[invocation] = sums.x;
    workgroupBarrier();
    if is_item {
        delta.x = sparse_taken_over(invocation, rows, member);
    }
    workgroupBarrier();
    sparse_partials[invocation] = sums.y;
    workgroupBarrier();
    if is_item {
        delta.y = sparse_taken_over(invocation, rows, member);
    }
    workgroupBarrier();
    sparse_partials[invocation] = sums.z;
    workgroupBarrier();
    if is_item {
        delta.z = sparse_taken_over(invocation, rows, member);
    }
    return delta;
}
