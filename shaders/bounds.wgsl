// The box around the posed positions of each instance. CPU twin: math::Aabb::of_points. One workgroup per run of items and instance; a second
// dispatch takes the boxes of the first one's runs for its items.

struct BoundsParams {
    // Items of an instance: vertices, or boxes of runs.
    item_count: u32,
    // Words from one item to the next.
    item_stride: u32,
    // Where in an item the point is that counts for the maximum; the one for the minimum is at 0.
    high_offset: u32,
    // Items of a run.
    run_length: u32,
    // Runs of an instance.
    run_count: u32,
    // Instances from, and up to.
    first_instance: u32,
    end_instance: u32,
    reserved: u32,
}

// The bits of positions, (N, V, 3), or of boxes, (N, runs, 2, 4)
@group(0) @binding(0) var<storage, read> items: array<u32>;
// The bits of boxes, (N, runs, 2): least and greatest coordinates, and 1.
@group(0) @binding(1) var<storage, read_write> boxes: array<vec4<u32>>;
@group(0) @binding(2) var<uniform> params: BoundsParams;

const INVOCATIONS = 256u;

var<workgroup> lows: array<vec3<u32>, INVOCATIONS>;
var<workgroup> highs: array<vec3<u32>, INVOCATIONS>;

const SIGN = 0x80000000u;
const INFINITY = 0x7f800000u;
const ONE = 0x3f800000u;

// Integers in the order of the floats: exact for tiny numbers too, and the same in any order of comparisons.
fn key(bits: vec3<u32>) -> vec3<u32> {
    return select(bits | vec3<u32>(SIGN), ~bits, (bits & vec3<u32>(SIGN)) != vec3<u32>(0u));
}

fn bits_of(key: vec3<u32>) -> vec3<u32> {
    return select(~key, key ^ vec3<u32>(SIGN), (key & vec3<u32>(SIGN)) != vec3<u32>(0u));
}

fn bits_at(at: u32) -> vec3<u32> {
    return vec3<u32>(items[at], items[at + 1u], items[at + 2u]);
}

fn is_number(bits: vec3<u32>) -> vec3<bool> {
    return (bits & vec3<u32>(~SIGN)) <= vec3<u32>(INFINITY);
}

@compute @workgroup_size(INVOCATIONS)
fn bounds(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    // Runs and instances lie in two dimensions of workgroups, whatever their numbers.
    let index = group.y * groups.x + group.x;
    let instance = params.first_instance + index / params.run_count;
    let run = index % params.run_count;
    // What is beyond the last instance has no items.
    let is_used = instance < params.end_instance;
    let end = select(0u, min((run + 1u) * params.run_length, params.item_count), is_used);
    // The empty box: plus infinity to minus infinity.
    var low = key(vec3<u32>(INFINITY));
    var high = key(vec3<u32>(SIGN | INFINITY));
    for (var i = run * params.run_length + invocation; i < end; i += INVOCATIONS) {
        let at = (instance * params.item_count + i) * params.item_stride;
        let least = bits_at(at);
        let greatest = bits_at(at + params.high_offset);
        low = min(low, select(low, key(least), is_number(least)));
        high = max(high, select(high, key(greatest), is_number(greatest)));
    }
    lows[invocation] = low;
    highs[invocation] = high;
    for (var half = INVOCATIONS / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if invocation < half {
            lows[invocation] = min(lows[invocation], lows[invocation + half]);
            highs[invocation] = max(highs[invocation], highs[invocation + half]);
        }
    }
    if invocation == 0u && is_used {
        let out = 2u * (instance * params.run_count + run);
        boxes[out] = vec4<u32>(bits_of(lows[0]), ONE);
        boxes[out + 1u] = vec4<u32>(bits_of(highs[0]), ONE);
    }
}
