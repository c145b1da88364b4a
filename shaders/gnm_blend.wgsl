// A GNM head: neutral + expression, gaze, seam, then skinning. Stands behind lbs_common.wgsl. CPU twin: gnm::cpu::gnm_blend.
//
// One workgroup poses one block of 64 slots (x) for one tile of instances (y): 32 lanes of two slots each, by 8 slices of the
// coefficients. Every basis word is read once for the whole tile and never widened in memory.

struct GnmParams {
    vertex_count: u32,
    instance_count: u32,
    // ceil(E / 32)
    group_count: u32,
    // vec4s from one tile to the next in `tiles`
    tile_stride: u32,
    left_eye: vec4<f32>,
    right_eye: vec4<f32>,
}

// Per block 9 planes of 64 words: neutral xyz, seam xyz, left and right eye weight, vertex index in file order.
@group(0) @binding(0) var<storage, read> slots: array<u32>;
// Per block and present coefficient three planes of two slots a word: see gnm::layout.
@group(0) @binding(1) var<storage, read> basis: array<u32>;
// Per block its first basis word, then per 32 coefficients: mask of those present, count of those present before.
@group(0) @binding(2) var<storage, read> block_table: array<u32>;
// Per tile 2 eye quaternions per instance; per 32 coefficients mask of the moved ones and count before; then their rows of TILE floats.
@group(0) @binding(3) var<storage, read> tiles: array<vec4<u32>>;
// (N, V, 3), file order
@group(0) @binding(4) var<storage, read_write> positions: array<f32>;
@group(0) @binding(5) var<uniform> params: GnmParams;

// Instances of a tile: 1, 4 or 8.
override tile_size: u32 = 8u;
override basis_is_i8: bool = false;
// Off: stop after gaze, head-local.
override pose: bool = true;

const WORKGROUP = 256u;
const BLOCK = 64u;
const LANES = 32u;
const SLICES = 8u;
const SLOT_PLANES = 9u;

// The coefficients that are both moved and present, of up to 256: first basis word, and the coefficient (tiles of 1) or where its row is.
var<workgroup> worklist: array<vec2<u32>, WORKGROUP>;
var<workgroup> worklist_length: u32;
// Sums of the slices: (planes, 3, tile_size, 64) with planes * tile_size at most 16.
var<workgroup> partials: array<f32, 3072>;

// One coefficient's entries for the two slots of a lane: lower slot in x.
struct Entry {
    x: vec2<f32>,
    y: vec2<f32>,
    z: vec2<f32>,
}

// Sums over coefficients for instances 0..4 and 4..8 of the tile; a and b are the lower and the upper slot.
struct Sums {
    a_x0: vec4<f32>, a_y0: vec4<f32>, a_z0: vec4<f32>,
    b_x0: vec4<f32>, b_y0: vec4<f32>, b_z0: vec4<f32>,
    a_x1: vec4<f32>, a_y1: vec4<f32>, a_z1: vec4<f32>,
    b_x1: vec4<f32>, b_y1: vec4<f32>, b_z1: vec4<f32>,
}

fn words_per_entry() -> u32 {
    return select(96u, 48u, basis_is_i8);
}

fn two_bytes(word: u32, shift: u32) -> vec2<f32> {
    let bytes = bitcast<i32>(word);
    return vec2<f32>(f32(extractBits(bytes, shift, 8u)), f32(extractBits(bytes, shift + 16u, 8u)));
}

fn entry_at(first_word: u32, lane: u32) -> Entry {
    if basis_is_i8 {
        let word = first_word + (lane >> 1u);
        let shift = (lane & 1u) * 8u;
        return Entry(
            two_bytes(basis[word], shift),
            two_bytes(basis[word + 16u], shift),
            two_bytes(basis[word + 32u], shift),
        );
    }
    let word = first_word + lane;
    return Entry(
        unpack2x16float(basis[word]),
        unpack2x16float(basis[word + 32u]),
        unpack2x16float(basis[word + 64u]),
    );
}

fn add_entry(sums: ptr<function, Sums>, e: Entry, coefficient: u32) {
    if tile_size == 1u {
        // One instance: the two slots stand in the first two components.
        let c = bitcast<f32>(coefficient);
        (*sums).a_x0 += vec4<f32>(c * e.x, 0.0, 0.0);
        (*sums).a_y0 += vec4<f32>(c * e.y, 0.0, 0.0);
        (*sums).a_z0 += vec4<f32>(c * e.z, 0.0, 0.0);
        return;
    }
    let c0 = bitcast<vec4<f32>>(tiles[coefficient]);
    (*sums).a_x0 += c0 * e.x.x;
    (*sums).a_y0 += c0 * e.y.x;
    (*sums).a_z0 += c0 * e.z.x;
    (*sums).b_x0 += c0 * e.x.y;
    (*sums).b_y0 += c0 * e.y.y;
    (*sums).b_z0 += c0 * e.z.y;
    if tile_size == 8u {
        let c1 = bitcast<vec4<f32>>(tiles[coefficient + 1u]);
        (*sums).a_x1 += c1 * e.x.x;
        (*sums).a_y1 += c1 * e.y.x;
        (*sums).a_z1 += c1 * e.z.x;
        (*sums).b_x1 += c1 * e.x.y;
        (*sums).b_y1 += c1 * e.y.y;
        (*sums).b_z1 += c1 * e.z.y;
    }
}

// Mask and count-before of one group of 32 coefficients, as the tile has it.
fn moved_group(masks: u32, group: u32) -> vec2<u32> {
    let pair = tiles[masks + (group >> 1u)];
    return select(pair.xy, pair.zw, (group & 1u) == 1u);
}

// Lists the coefficients of groups first_group .. first_group + 8 that are moved and present, in ascending order; slice s looks at group s.
fn list_coefficients(table_row: u32, tile: u32, first_group: u32, lane: u32, slice: u32) {
    let group = first_group + slice;
    if group >= params.group_count {
        return;
    }
    let masks = tile + 2u * tile_size;
    let moved = moved_group(masks, group);
    let present = vec2<u32>(block_table[table_row + 1u + 2u * group], block_table[table_row + 2u + 2u * group]);
    let both = moved.x & present.x;
    let listed = ((both >> lane) & 1u) == 1u;
    let is_last = lane == 0u && (slice == SLICES - 1u || group == params.group_count - 1u);
    if !(listed || is_last) {
        return;
    }
    var before = 0u;
    for (var g = first_group; g < group; g++) {
        before += countOneBits(moved_group(masks, g).x & block_table[table_row + 1u + 2u * g]);
    }
    if is_last {
        worklist_length = before + countOneBits(both);
    }
    if listed {
        let lower = (1u << lane) - 1u;
        let word = block_table[table_row] + (present.y + countOneBits(present.x & lower)) * words_per_entry();
        let row = moved.y + countOneBits(moved.x & lower);
        let rows = masks + (params.group_count + 1u) / 2u;
        var coefficient = rows + row * (tile_size / 4u);
        if tile_size == 1u {
            coefficient = tiles[rows + (row >> 2u)][row & 3u];
        }
        worklist[before + countOneBits(both & lower)] = vec2<u32>(word, coefficient);
    }
}

// Adds this slice's share of the list; four entries at a time, so that their loads are in flight together.
fn add_listed(sums: ptr<function, Sums>, lane: u32, slice: u32) {
    let length = worklist_length;
    var k = slice;
    for (; k + 3u * SLICES < length; k += 4u * SLICES) {
        let i0 = worklist[k];
        let i1 = worklist[k + SLICES];
        let i2 = worklist[k + 2u * SLICES];
        let i3 = worklist[k + 3u * SLICES];
        let e0 = entry_at(i0.x, lane);
        let e1 = entry_at(i1.x, lane);
        let e2 = entry_at(i2.x, lane);
        let e3 = entry_at(i3.x, lane);
        add_entry(sums, e0, i0.y);
        add_entry(sums, e1, i1.y);
        add_entry(sums, e2, i2.y);
        add_entry(sums, e3, i3.y);
    }
    for (; k < length; k += SLICES) {
        let item = worklist[k];
        add_entry(sums, entry_at(item.x, lane), item.y);
    }
}

fn deposit(at: u32, value: f32, is_first: bool) {
    if is_first {
        partials[at] = value;
    } else {
        partials[at] += value;
    }
}

fn deposit4(at: u32, values: vec4<f32>, is_first: bool) {
    deposit(at, values.x, is_first);
    deposit(at + BLOCK, values.y, is_first);
    deposit(at + 2u * BLOCK, values.z, is_first);
    deposit(at + 3u * BLOCK, values.w, is_first);
}

// Adds one slice's sums to its plane of `partials`.
fn deposit_sums(s: Sums, plane: u32, lane: u32, is_first: bool) {
    let axis = tile_size * BLOCK;
    let x = plane * 3u * axis + lane;
    let y = x + axis;
    let z = y + axis;
    if tile_size == 1u {
        deposit(x, s.a_x0.x, is_first);
        deposit(y, s.a_y0.x, is_first);
        deposit(z, s.a_z0.x, is_first);
        deposit(x + LANES, s.a_x0.y, is_first);
        deposit(y + LANES, s.a_y0.y, is_first);
        deposit(z + LANES, s.a_z0.y, is_first);
        return;
    }
    deposit4(x, s.a_x0, is_first);
    deposit4(y, s.a_y0, is_first);
    deposit4(z, s.a_z0, is_first);
    deposit4(x + LANES, s.b_x0, is_first);
    deposit4(y + LANES, s.b_y0, is_first);
    deposit4(z + LANES, s.b_z0, is_first);
    if tile_size == 8u {
        deposit4(x + 4u * BLOCK, s.a_x1, is_first);
        deposit4(y + 4u * BLOCK, s.a_y1, is_first);
        deposit4(z + 4u * BLOCK, s.a_z1, is_first);
        deposit4(x + 4u * BLOCK + LANES, s.b_x1, is_first);
        deposit4(y + 4u * BLOCK + LANES, s.b_y1, is_first);
        deposit4(z + 4u * BLOCK + LANES, s.b_z1, is_first);
    }
}

// p + weight * (R r - r) about the eye's centre, with R r - r = w t + axis x t and t = 2 axis x r.
fn turn_eye(p: vec3<f32>, centre: vec3<f32>, weight: f32, q: vec4<f32>) -> vec3<f32> {
    let t = 2.0 * cross(q.xyz, p - centre);
    return p + weight * (q.w * t + cross(q.xyz, t));
}

fn slot_vector(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(slots[at], slots[at + BLOCK], slots[at + 2u * BLOCK]));
}

// The posed vertex of one slot and instance from the sum of its deltas.
fn pose_slot(block: u32, slot: u32, instance: u32, quaternions: u32, delta: vec3<f32>) {
    let at = block * SLOT_PLANES * BLOCK + slot;
    var p = slot_vector(at) + delta;
    let weights = bitcast<vec2<f32>>(vec2<u32>(slots[at + 6u * BLOCK], slots[at + 7u * BLOCK]));
    p = turn_eye(p, params.left_eye.xyz, weights.x, bitcast<vec4<f32>>(tiles[quaternions]));
    p = turn_eye(p, params.right_eye.xyz, weights.y, bitcast<vec4<f32>>(tiles[quaternions + 1u]));
    if pose {
        p += slot_vector(at + 3u * BLOCK);
        p = lbs_skin(block * BLOCK + slot, instance, p);
    }
    let out = 3u * (instance * params.vertex_count + slots[at + 8u * BLOCK]);
    positions[out] = p.x;
    positions[out + 1u] = p.y;
    positions[out + 2u] = p.z;
}

@compute @workgroup_size(WORKGROUP)
fn gnm_blend(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) invocation: u32) {
    let block = group.x;
    let lane = invocation % LANES;
    let slice = invocation / LANES;
    let tile = group.y * params.tile_stride;
    let table_row = block * (1u + 2u * params.group_count);

    var sums = Sums();
    for (var first_group = 0u; first_group < params.group_count; first_group += SLICES) {
        list_coefficients(table_row, tile, first_group, lane, slice);
        workgroupBarrier();
        add_listed(&sums, lane, slice);
        workgroupBarrier();
    }

    // As many slices at a time as the workgroup memory holds, in a fixed order.
    let planes = min(SLICES, 16u / tile_size);
    for (var first_slice = 0u; first_slice < SLICES; first_slice += planes) {
        if slice / planes * planes == first_slice {
            deposit_sums(sums, slice - first_slice, lane, first_slice == 0u);
        }
        workgroupBarrier();
    }

    for (var item = invocation; item < BLOCK * tile_size; item += WORKGROUP) {
        let slot = item % BLOCK;
        let member = item / BLOCK;
        let instance = group.y * tile_size + member;
        if instance >= params.instance_count || block * BLOCK + slot >= params.vertex_count {
            continue;
        }
        var delta = vec3<f32>(0.0);
        for (var plane = 0u; plane < planes; plane++) {
            let x = (plane * 3u * tile_size + member) * BLOCK + slot;
            delta += vec3<f32>(partials[x], partials[x + tile_size * BLOCK], partials[x + 2u * tile_size * BLOCK]);
        }
        pose_slot(block, slot, instance, tile + 2u * member, delta);
    }
}
