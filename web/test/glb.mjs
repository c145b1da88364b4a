// A small glTF file for the test: a box whose upper half an ARKit shape lifts.

/** A GLB with the given document and binary chunk. */
export function glb(document, binary) {
  const pad = (bytes, filler) => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4, filler)]);
  const chunk = (type, bytes) => {
    const head = Buffer.alloc(8);
    head.writeUInt32LE(bytes.length, 0);
    head.write(type, 4, "latin1");
    return Buffer.concat([head, bytes]);
  };
  const chunks = [chunk("JSON", pad(Buffer.from(JSON.stringify(document)), " ")), chunk("BIN\0", pad(binary, 0))];
  const head = Buffer.alloc(12);
  head.write("glTF", 0, "latin1");
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(12 + chunks[0].length + chunks[1].length, 8);
  return Buffer.concat([head, ...chunks]);
}

const CORNERS = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [0.1 * (i & 1), 0.1 * ((i >> 1) & 1), 0.1 * ((i >> 2) & 1)]);
const QUADS = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];

/** How far `jawOpen` lifts the upper corners, metres. */
export const LIFT_M = 0.02;

/** The box as a document and its binary chunk. */
export function box() {
  const positions = Float32Array.from(CORNERS.flat());
  const lifts = Float32Array.from(CORNERS.flatMap(([, y]) => [0, y > 0 ? LIFT_M : 0, 0]));
  const indices = Uint16Array.from(QUADS.flatMap(([a, b, c, d]) => [a, b, c, a, c, d]));
  const parts = [positions, lifts, indices].map((array) => Buffer.from(array.buffer));
  const offsets = [0, parts[0].length, parts[0].length + parts[1].length];
  const document = {
    asset: { version: "2.0" },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ name: "box", mesh: 0 }],
    meshes: [
      {
        primitives: [{ attributes: { POSITION: 0 }, indices: 2, targets: [{ POSITION: 1 }] }],
        extras: { targetNames: ["jawOpen"] },
      },
    ],
    buffers: [{ byteLength: parts.reduce((sum, part) => sum + part.length, 0) }],
    bufferViews: parts.map((part, i) => ({ buffer: 0, byteOffset: offsets[i], byteLength: part.length })),
    accessors: [
      { bufferView: 0, componentType: 5126, count: 8, type: "VEC3", min: [0, 0, 0], max: [0.1, 0.1, 0.1] },
      { bufferView: 1, componentType: 5126, count: 8, type: "VEC3", min: [0, 0, 0], max: [0, LIFT_M, 0] },
      { bufferView: 2, componentType: 5123, count: indices.length, type: "SCALAR" },
    ],
  };
  return { document, binary: Buffer.concat(parts) };
}

/** How far the clip of the box without a shape carries it, metres. */
export const SLIDE_M = 0.05;

/** The box without its shape, and with a clip of one second that carries it up. */
export function slidingBox() {
  const { document, binary } = box();
  const times = Buffer.from(Float32Array.from([0, 1]).buffer);
  const places = Buffer.from(Float32Array.from([0, 0, 0, 0, SLIDE_M, 0]).buffer);
  delete document.meshes[0].primitives[0].targets;
  delete document.meshes[0].extras;
  const end = binary.length;
  document.buffers[0].byteLength = end + times.length + places.length;
  document.bufferViews.push({ buffer: 0, byteOffset: end, byteLength: times.length });
  document.bufferViews.push({ buffer: 0, byteOffset: end + times.length, byteLength: places.length });
  document.accessors.push({ bufferView: 3, componentType: 5126, count: 2, type: "SCALAR", min: [0], max: [1] });
  document.accessors.push({ bufferView: 4, componentType: 5126, count: 2, type: "VEC3" });
  document.animations = [
    { samplers: [{ input: 3, output: 4 }], channels: [{ sampler: 0, target: { node: 0, path: "translation" } }] },
  ];
  return glb(document, Buffer.concat([binary, times, places]));
}
