// One character a draw: lit by two lights, or coloured by how far it moved on the screen since the last frame.

struct Draw {
    clip_from_rig: mat4x4<f32>,
    // The same for the last frame's positions: where the character stood, and where the camera did.
    previous_clip_from_rig: mat4x4<f32>,
    world_from_rig: mat4x4<f32>,
    // Where the camera stands, world.
    eye: vec4<f32>,
}

struct Material {
    // Linear.
    color: vec3<f32>,
    // 1 for an eyeball, whose iris is painted around its axis.
    eye: f32,
}

@group(0) @binding(0) var<uniform> draw: Draw;
@group(0) @binding(1) var<storage, read> materials: array<Material>;

struct Surface {
    @builtin(position) position: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) rest_normal: vec3<f32>,
    @location(3) clip: vec3<f32>,
    @location(4) previous_clip: vec3<f32>,
    @location(5) @interpolate(flat) part: u32,
}

// The part is the instance index of the draw, so that nothing is bound anew between the parts of a character.
@vertex
fn vs_character(
    @location(0) position: vec3<f32>,
    @location(1) previous_position: vec3<f32>,
    @location(2) normal: vec3<f32>,
    @location(3) rest_normal: vec3<f32>,
    @builtin(instance_index) part: u32,
) -> Surface {
    var out: Surface;
    out.position = draw.clip_from_rig * vec4<f32>(position, 1.0);
    out.world = (draw.world_from_rig * vec4<f32>(position, 1.0)).xyz;
    // The scale is the same along all axes, so that normals turn as positions do.
    out.normal = (draw.world_from_rig * vec4<f32>(normal, 0.0)).xyz;
    out.rest_normal = rest_normal;
    out.clip = out.position.xyw;
    out.previous_clip = (draw.previous_clip_from_rig * vec4<f32>(previous_position, 1.0)).xyw;
    out.part = part;
    return out;
}

// White, iris and pupil by the angle between the eye's axis and where this point of it faces at rest.
fn eye_color(white: vec3<f32>, rest_normal: vec3<f32>) -> vec3<f32> {
    let off_axis = length(normalize(rest_normal).xy) + step(rest_normal.z, 0.0);
    let iris = mix(vec3<f32>(0.16, 0.075, 0.03), vec3<f32>(0.05, 0.025, 0.012), smoothstep(0.36, 0.46, off_axis));
    let ringed = mix(iris, white, smoothstep(0.44, 0.50, off_axis));
    return mix(vec3<f32>(0.008), ringed, smoothstep(0.17, 0.21, off_axis));
}

@fragment
fn fs_lit(in: Surface, @builtin(front_facing) is_front: bool) -> @location(0) vec4<f32> {
    let material = materials[in.part];
    let is_eye = material.eye > 0.5;
    let color = select(material.color, eye_color(material.color, in.rest_normal), is_eye);
    let n = normalize(in.normal) * select(-1.0, 1.0, is_front);
    let v = normalize(draw.eye.xyz - in.world);
    let key = normalize(vec3<f32>(-0.55, 0.65, 0.75));
    let fill = normalize(vec3<f32>(0.9, 0.1, 0.45));
    // Light that goes around the edge of a shadow, redder, is what tells skin from plaster.
    let wrapped = clamp((dot(n, key) + vec3<f32>(0.38, 0.20, 0.14)) / vec3<f32>(1.38, 1.20, 1.14), vec3<f32>(0.0), vec3<f32>(1.0));
    let sky = mix(vec3<f32>(0.10, 0.085, 0.08), vec3<f32>(0.20, 0.22, 0.26), 0.5 + 0.5 * n.y);
    var light = sky + 1.05 * vec3<f32>(1.0, 0.95, 0.88) * wrapped * wrapped;
    light += 0.22 * vec3<f32>(0.55, 0.70, 1.0) * max(dot(n, fill), 0.0);
    let shine = pow(max(dot(n, normalize(key + v)), 0.0), select(22.0, 180.0, is_eye)) * select(0.07, 0.9, is_eye);
    let rim = pow(1.0 - max(dot(n, v), 0.0), 4.0) * 0.16;
    return vec4<f32>(color * light + shine + rim * vec3<f32>(0.5, 0.65, 0.9), 1.0);
}

// What a temporal filter would read from a second attachment: the motion in half screens a frame, here around middle grey.
@fragment
fn fs_motion(in: Surface) -> @location(0) vec4<f32> {
    let motion = in.clip.xy / in.clip.z - in.previous_clip.xy / in.previous_clip.z;
    return vec4<f32>(0.5 + 0.5 * tanh(motion * 40.0), 0.5, 1.0);
}
