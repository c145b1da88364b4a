// Pictures of posed vertices: a backdrop, and surfaces shaded, by normals, by wires or by an error per vertex.

// Whether colours are encoded here: a target whose format is not sRGB does not do it.
override encode_srgb: bool = false;

struct View {
    clip_from_world: mat4x4<f32>,
    // Where the camera stands, world.
    eye: vec4<f32>,
    // Towards the lights, world, unit length.
    key: vec4<f32>,
    fill: vec4<f32>,
    // Linear colours; the last number of the first two is unused.
    key_color: vec4<f32>,
    fill_color: vec4<f32>,
    ambient_above: vec4<f32>,
    ambient_below: vec4<f32>,
    // Linear colours of the backdrop's upper and lower edge.
    backdrop_above: vec4<f32>,
    backdrop_below: vec4<f32>,
}

struct Shot {
    world_from_rig: mat4x4<f32>,
    // The first vertex of the instance, for vertices that are pulled.
    first_vertex: u32,
    // 0 where there are no normals: the triangles' own are taken.
    has_normals: u32,
    // The error at the end of the scale.
    range: f32,
    pad: u32,
}

struct Material {
    // Linear.
    color: vec3<f32>,
    // 0 matt .. 1 glossy.
    gloss: f32,
    // Linear, what light is tinted with where it passes through: black for none.
    bleed: vec3<f32>,
    // 1 for an eye, whose iris and pupil lie around its axis.
    eye: f32,
}

@group(0) @binding(0) var<uniform> view: View;
@group(1) @binding(0) var<uniform> shot: Shot;
@group(1) @binding(1) var<storage, read> materials: array<Material>;
@group(2) @binding(0) var<storage, read> pulled_indices: array<u32>;
@group(2) @binding(1) var<storage, read> pulled_positions: array<f32>;

struct Surface {
    @builtin(position) clip: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    // In an eye: from its centre, in its radii, at rest. Then the light that reaches the vertex, 0..1.
    @location(2) feature: vec4<f32>,
    @location(3) value: f32,
    @location(4) corner: vec3<f32>,
    @location(5) @interpolate(flat) part: u32,
}

fn surface(position: vec3<f32>, normal: vec3<f32>, part: u32) -> Surface {
    var out: Surface;
    let world = shot.world_from_rig * vec4<f32>(position, 1.0);
    out.world = world.xyz;
    out.clip = view.clip_from_world * world;
    out.normal = (shot.world_from_rig * vec4<f32>(normal, 0.0)).xyz;
    out.part = part;
    return out;
}

// The part is the instance index of the draw, so that no draw needs a binding of its own.
@vertex
fn vs_surface(
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) feature: vec4<f32>,
    @builtin(instance_index) part: u32,
) -> Surface {
    var out = surface(position, normal, part);
    out.feature = feature;
    return out;
}

@vertex
fn vs_value(
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) value: f32,
    @builtin(instance_index) part: u32,
) -> Surface {
    var out = surface(position, normal, part);
    out.value = value;
    return out;
}

// Corners are pulled one by one: only so does a fragment know how far it is from each edge.
@vertex
fn vs_wire(@builtin(vertex_index) corner: u32, @builtin(instance_index) part: u32) -> Surface {
    let at = 3u * (shot.first_vertex + pulled_indices[corner]);
    let position = vec3<f32>(pulled_positions[at], pulled_positions[at + 1u], pulled_positions[at + 2u]);
    var out = surface(position, vec3<f32>(0.0), part);
    let which = corner % 3u;
    out.corner = vec3<f32>(f32(which == 0u), f32(which == 1u), f32(which == 2u));
    return out;
}

@vertex
fn vs_backdrop(@builtin(vertex_index) vertex: u32) -> Surface {
    var out: Surface;
    let corner = vec2<f32>(f32(vertex & 1u), f32(vertex >> 1u)) * 4.0 - 1.0;
    out.clip = vec4<f32>(corner, 1.0, 1.0);
    out.feature = vec4<f32>(corner, 0.0, 0.0);
    return out;
}

fn encoded(linear: vec3<f32>) -> vec4<f32> {
    let c = clamp(linear, vec3<f32>(0.0), vec3<f32>(1.0));
    if !encode_srgb {
        return vec4<f32>(c, 1.0);
    }
    let curve = 1.055 * pow(c, vec3<f32>(1.0 / 2.4)) - 0.055;
    return vec4<f32>(select(curve, 12.92 * c, c <= vec3<f32>(0.0031308)), 1.0);
}

// The face's own normal, towards the viewer.
fn face_normal(world: vec3<f32>) -> vec3<f32> {
    let across = cross(dpdx(world), dpdy(world));
    let towards = view.eye.xyz - world;
    let n = select(across, -across, dot(across, towards) < 0.0);
    return n / max(length(n), 1e-30);
}

// Whatever way a file winds its triangles, what is seen is lit from the viewer's side.
fn visible_normal(in: Surface) -> vec3<f32> {
    let face = face_normal(in.world);
    let size = length(in.normal);
    if shot.has_normals == 0u || size < 1e-6 {
        return face;
    }
    let n = in.normal / size;
    return select(n, -n, dot(n, face) < 0.0);
}

// Light from a direction, softened round the terminator; what is translucent glows a little beyond it.
fn lit(n: vec3<f32>, light: vec3<f32>, bleed: vec3<f32>) -> vec3<f32> {
    let facing = dot(n, light);
    let wrapped = max((facing + 0.5 * bleed) / (1.0 + 0.5 * bleed), vec3<f32>(0.0));
    return wrapped * wrapped * 0.35 + wrapped * 0.65;
}

fn highlight(n: vec3<f32>, light: vec3<f32>, towards: vec3<f32>, gloss: f32) -> f32 {
    let half_way = normalize(light + towards);
    let power = exp2(3.0 + 7.0 * gloss);
    let fresnel = 0.04 + 0.96 * pow(1.0 - max(dot(half_way, towards), 0.0), 5.0);
    return fresnel * (power + 8.0) / 25.0 * pow(max(dot(n, half_way), 0.0), power) * max(dot(n, light), 0.0);
}

// Pupil, iris and sclera by the angle from the eye's axis, +Z of the head at rest; `pixel` is how much of it a pixel spans.
fn eye_color(offset: vec3<f32>, angle: f32, pixel: f32, sclera: vec3<f32>) -> vec3<f32> {
    const PUPIL_RAD = 0.20;
    const IRIS_RAD = 0.47;
    const DARK = vec3<f32>(0.006, 0.006, 0.007);
    let edge = clamp(pixel, 1e-4, 0.2);
    let across = clamp((angle - PUPIL_RAD) / (IRIS_RAD - PUPIL_RAD), 0.0, 1.0);
    let around = atan2(offset.y, offset.x);
    let fibres = 0.5 + 0.25 * cos(around * 24.0) + 0.25 * cos(around * 42.0);
    // Fibres finer than a pixel would flicker.
    let drawn_fibres = mix(fibres, 0.5, smoothstep(0.02, 0.10, edge));
    let inner = vec3<f32>(0.20, 0.115, 0.035);
    let outer = vec3<f32>(0.055, 0.135, 0.165);
    let limbus = smoothstep(0.70, 1.0, across);
    var iris = mix(inner, outer, smoothstep(0.05, 0.55, across)) * (0.65 + 0.7 * drawn_fibres);
    iris = mix(iris, iris * 0.12, limbus);
    let veins = sclera * mix(vec3<f32>(1.0), vec3<f32>(0.86, 0.62, 0.58), smoothstep(0.55, 1.5, angle));
    var color = mix(veins, iris, 1.0 - smoothstep(IRIS_RAD - edge, IRIS_RAD + edge, angle));
    return mix(color, DARK, 1.0 - smoothstep(PUPIL_RAD - edge, PUPIL_RAD + edge, angle));
}

@fragment
fn fs_shaded(in: Surface) -> @location(0) vec4<f32> {
    let material = materials[in.part];
    let n = visible_normal(in);
    let towards = normalize(view.eye.xyz - in.world);
    // Derivatives are taken before anything branches.
    let angle = atan2(length(in.feature.xy), in.feature.z);
    let pixel = fwidth(angle);
    var albedo = material.color;
    var reach = in.feature.w;
    if material.eye > 0.5 {
        albedo = eye_color(in.feature.xyz, angle, pixel, material.color);
        // The upper lid keeps light from the ball below it.
        reach *= 1.0 - 0.55 * smoothstep(-0.05, 0.6, n.y);
    }
    let above = mix(view.ambient_below.rgb, view.ambient_above.rgb, 0.5 + 0.5 * n.y);
    var light = above + view.key_color.rgb * lit(n, view.key.xyz, material.bleed);
    light += view.fill_color.rgb * lit(n, view.fill.xyz, material.bleed);
    var shine = view.key_color.rgb * highlight(n, view.key.xyz, towards, material.gloss);
    shine += view.fill_color.rgb * highlight(n, view.fill.xyz, towards, material.gloss);
    let rim = pow(1.0 - max(dot(n, towards), 0.0), 4.0);
    let sheen = above * rim * (0.10 + 0.35 * material.gloss);
    let color = albedo * light * reach + (shine * (0.35 + 0.65 * material.gloss) + sheen) * reach;
    // A shoulder, so that highlights do not clip.
    return encoded(color / (1.0 + 0.16 * color * color));
}

@fragment
fn fs_normals(in: Surface) -> @location(0) vec4<f32> {
    // Numbers, not light: they are what a target without sRGB holds.
    let n = visible_normal(in) * 0.5 + 0.5;
    if encode_srgb {
        return vec4<f32>(n, 1.0);
    }
    let curve = pow((n + 0.055) / 1.055, vec3<f32>(2.4));
    return vec4<f32>(select(curve, n / 12.92, n <= vec3<f32>(0.04045)), 1.0);
}

@fragment
fn fs_wire(in: Surface) -> @location(0) vec4<f32> {
    let width = fwidth(in.corner);
    let from_edges = in.corner / max(width, vec3<f32>(1e-6));
    // Edges that lie closer together than a few pixels would be all line.
    let strength = vec3<f32>(0.85) - 0.70 * smoothstep(vec3<f32>(0.10), vec3<f32>(0.55), width);
    let lines = (1.0 - smoothstep(vec3<f32>(0.35), vec3<f32>(1.25), from_edges)) * strength;
    let line = max(lines.x, max(lines.y, lines.z));
    let n = face_normal(in.world);
    let towards = normalize(view.eye.xyz - in.world);
    let shade = 0.30 + 0.70 * max(dot(n, normalize(view.key.xyz + towards)), 0.0);
    let paper = mix(vec3<f32>(0.62, 0.66, 0.70), materials[in.part].color, 0.45) * shade;
    return encoded(mix(paper, vec3<f32>(0.010, 0.022, 0.040), line));
}

// The scale of the error map, 0..1: see `colors::error_color`, whose twin this is.
fn error_color(share: f32) -> vec3<f32> {
    let t = clamp(share, 0.0, 1.0);
    let lightness = 0.93 - 0.58 * t;
    let chroma = 0.012 + 0.36 * t * (1.0 - 0.55 * t);
    let hue = 1.4835 - 2.5307 * t;
    let a = chroma * cos(hue);
    let b = chroma * sin(hue);
    let l = lightness + 0.3963377774 * a + 0.2158037573 * b;
    let m = lightness - 0.1055613458 * a - 0.0638541728 * b;
    let s = lightness - 0.0894841775 * a - 1.2914855480 * b;
    let cubes = vec3<f32>(l * l * l, m * m * m, s * s * s);
    return vec3<f32>(
        dot(cubes, vec3<f32>(4.0767416621, -3.3077115913, 0.2309699292)),
        dot(cubes, vec3<f32>(-1.2684380046, 2.6097574011, -0.3413193965)),
        dot(cubes, vec3<f32>(-0.0041960863, -0.7034186147, 1.7076147010)),
    );
}

@fragment
fn fs_error(in: Surface) -> @location(0) vec4<f32> {
    let n = visible_normal(in);
    let towards = normalize(view.eye.xyz - in.world);
    // Just enough shade to see the shape: the colour is the message.
    let shade = 0.60 + 0.40 * max(dot(n, towards), 0.0);
    return encoded(error_color(in.value / shot.range) * shade);
}

@fragment
fn fs_backdrop(in: Surface) -> @location(0) vec4<f32> {
    return encoded(mix(view.backdrop_below.rgb, view.backdrop_above.rgb, 0.5 + 0.5 * in.feature.y));
}
