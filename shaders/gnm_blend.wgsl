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
const SLOT_PLANES = 9u;

// The coefficients that are both moved and present, of up to 256: first basis word, and the coefficient (tiles of 1) or where its row is.
var<workgroup> worklist: array<vec2<u32>, WORKGROUP>;
var<workgroup> worklist_length: u32;
// What slices hand over at a time: (planes, 3, tile_size, 64), one plane a slice.
var<workgroup> partials: array<f32, 3072>;

// One coefficient's entries for the two slots of a lane: lower slot in x.
struct Entry {
    x: vec2<f32>,
    y: vec2<f32>,
    z: vec2<f32>,
}

// Sums over coefficients for four instances; a and b are the lower and the upper slot. In a tile of one, x and y of `a` are the two slots.
struct Sums {
    a_x: vec4<f32>, a_y: vec4<f32>, a_z: vec4<f32>,
    b_x: vec4<f32>, b_y: vec4<f32>, b_z: vec4<f32>,
}

// What one invocation sums: which lane, every which coefficient from which on, and which four instances of the tile.
struct Share {
    lane: u32,
    slice: u32,
    slices: u32,
    quad: u32,
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

fn add_entry(sums: ptr<function, Sums>, e: Entry, coefficient: u32, quad: u32) {
    if tile_size == 1u {
        let c = bitcast<f32>(coefficient);
        (*sums).a_x += vec4<f32>(c * e.x, 0.0, 0.0);
        (*sums).a_y += vec4<f32>(c * e.y, 0.0, 0.0);
        (*sums).a_z += vec4<f32>(c * e.z, 0.0, 0.0);
    } else {
        let c = bitcast<vec4<f32>>(tiles[coefficient + quad]);
        (*sums).a_x += c * e.x.x;
        (*sums).a_y += c * e.y.x;
        (*sums).a_z += c * e.z.x;
        (*sums).b_x += c * e.x.y;
        (*sums).b_y += c * e.y.y;
        (*sums).b_z += c * e.z.y;
    }
}

// Mask and count-before of one group of 32 coefficients, as the tile has it.
fn moved_group(masks: u32, group: u32) -> vec2<u32> {
    let pair = tiles[masks + (group >> 1u)];
    return select(pair.xy, pair.zw, (group & 1u) == 1u);
}

// Lists the coefficients of groups first_group .. first_group + 8 that are moved and present, in ascending order: one group a row of lanes.
fn list_coefficients(table_row: u32, tile: u32, first_group: u32, invocation: u32) {
    let lane = invocation % LANES;
    let group = first_group + invocation / LANES;
    if group >= params.group_count {
        return;
    }
    let masks = tile + 2u * tile_size;
    let moved = moved_group(masks, group);
    let present = vec2<u32>(block_table[table_row + 1u + 2u * group], block_table[table_row + 2u + 2u * group]);
    let both = moved.x & present.x;
    let listed = ((both >> lane) & 1u) == 1u;
    let is_last = lane == 0u && (group == first_group + 7u || group == params.group_count - 1u);
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

// Adds a share of the list; four entries at a time, so that their loads are in flight together.
fn add_listed(sums: ptr<function, Sums>, share: Share) {
    let length = worklist_length;
    let step = share.slices;
    var k = share.slice;
    for (; k + 3u * step < length; k += 4u * step) {
        let i0 = worklist[k];
        let i1 = worklist[k + step];
        let i2 = worklist[k + 2u * step];
        let i3 = worklist[k + 3u * step];
        let e0 = entry_at(i0.x, share.lane);
        let e1 = entry_at(i1.x, share.lane);
        let e2 = entry_at(i2.x, share.lane);
        let e3 = entry_at(i3.x, share.lane);
        add_entry(sums, e0, i0.y, share.quad);
        add_entry(sums, e1, i1.y, share.quad);
        add_entry(sums, e2, i2.y, share.quad);
        add_entry(sums, e3, i3.y, share.quad);
    }
    for (; k < length; k += step) {
        let item = worklist[k];
        add_entry(sums, entry_at(item.x, share.lane), item.y, share.quad);
    }
}

fn hand_over4(at: u32, values: vec4<f32>) {
    partials[at] = values.x;
    partials[at + BLOCK] = values.y;
    partials[at + 2u * BLOCK] = values.z;
    partials[at + 3u * BLOCK] = values.w;
}

fn hand_over(s: Sums, plane: u32, share: Share) {
    let axis = tile_size * BLOCK;
    let x = plane * 3u * axis + share.quad * 4u * BLOCK + share.lane;
    let y = x + axis;
    let z = y + axis;
    if tile_size == 1u {
        partials[x] = s.a_x.x;
        partials[y] = s.a_y.x;
        partials[z] = s.a_z.x;
        partials[x + LANES] = s.a_x.y;
        partials[y + LANES] = s.a_y.y;
        partials[z + LANES] = s.a_z.y;
    } else {
        hand_over4(x, s.a_x);
        hand_over4(y, s.a_y);
        hand_over4(z, s.a_z);
        hand_over4(x + LANES, s.b_x);
        hand_over4(y + LANES, s.b_y);
        hand_over4(z + LANES, s.b_z);
    }
}

// The sum over the planes of one slot and member of the tile.
fn taken_over(item: u32, planes: u32) -> vec3<f32> {
    let axis = tile_size * BLOCK;
    var sum = vec3<f32>(0.0);
    for (var plane = 0u; plane < planes; plane++) {
        let x = plane * 3u * axis + item;
        sum += vec3<f32>(partials[x], partials[x + axis], partials[x + 2u * axis]);
    }
    return sum;
}

// p + weight * (R r - r) about the eye's centre, with R r - r = w t + axis x t and t = 2 axis x r.
fn turn_eye(p: vec3<f32>, centre: vec3<f32>, weight: f32, q: vec4<f32>) -> vec3<f32> {
    let t = 2.0 * cross(q.xyz, p - centre);
    return p + weight * (q.w * t + cross(q.xyz, t));
}

fn slot_vector(at: u32) -> vec3<f32> {
    return bitcast<vec3<f32>>(vec3<u32>(slots[at], slots[at + BLOCK], slots[at + 2u * BLOCK]));
}

// Writes the posed vertex of one slot and member of the tile from the sum of its deltas.
fn pose_item(block: u32, tile_index: u32, item: u32, delta: vec3<f32>) {
    let slot = item % BLOCK;
    let member = item / BLOCK;
    let instance = tile_index * tile_size + member;
    if item >= BLOCK * tile_size || instance >= params.instance_count || block * BLOCK + slot >= params.vertex_count {
        return;
    }
    let at = block * SLOT_PLANES * BLOCK + slot;
    var p = slot_vector(at) + delta;
    let weights = bitcast<vec2<f32>>(vec2<u32>(slots[at + 6u * BLOCK], slots[at + 7u * BLOCK]));
    let eyes = tile_index * params.tile_stride + 2u * member;
    p = turn_eye(p, params.left_eye.xyz, weights.x, bitcast<vec4<f32>>(tiles[eyes]));
    p = turn_eye(p, params.right_eye.xyz, weights.y, bitcast<vec4<f32>>(tiles[eyes + 1u]));
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
    // Tiles of 1 and 4: eight slices of the coefficients. Tiles of 8: four slices for either half of the tile.
    let slices = select(8u, 4u, tile_size == 8u);
    let row = invocation / LANES;
    let share = Share(invocation % LANES, row % slices, slices, row / slices);
    let tile = group.y * params.tile_stride;
    let table_row = group.x * (1u + 2u * params.group_count);

    var sums = Sums();
    for (var first_group = 0u; first_group < params.group_count; first_group += 8u) {
        list_coefficients(table_row, tile, first_group, invocation);
        workgroupBarrier();
        add_listed(&sums, share);
        workgroupBarrier();
    }

    // As many slices at a time as the workgroup memory holds, in a fixed order; tiles of 8 have two items an invocation.
    let planes = min(slices, 16u / tile_size);
    var delta_0 = vec3<f32>(0.0);
    var delta_1 = vec3<f32>(0.0);
    for (var first = 0u; first < slices; first += planes) {
        if share.slice / planes * planes == first {
            hand_over(sums, share.slice - first, share);
        }
        workgroupBarrier();
        if invocation < BLOCK * tile_size {
            delta_0 += taken_over(invocation, planes);
        }
        if tile_size == 8u {
            delta_1 += taken_over(invocation + WORKGROUP, planes);
        }
        workgroupBarrier();
    }

    pose_item(group.x, group.y, invocation, delta_0);
    if tile_size == 8u {
        pose_item(group.x, group.y, invocation + WORKGROUP, delta_1);
    }
}
