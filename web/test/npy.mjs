// Arrays as the command line takes and gives them: .npy, f32, row-major.

/** The bytes of an array. */
export function npyOf(shape, values) {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(", ")}${shape.length === 1 ? "," : ""}), }`;
  const padded = text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11) + "\n";
  const head = Buffer.alloc(10);
  head.write("\x93NUMPY\x01\x00", 0, "latin1");
  head.writeUInt16LE(padded.length, 8);
  return Buffer.concat([head, Buffer.from(padded, "latin1"), Buffer.from(Float32Array.from(values).buffer)]);
}

/** The values of an array. */
export function f32Of(bytes) {
  const start = 10 + bytes.readUInt16LE(8);
  if (!bytes.toString("latin1", 0, start).includes("'<f4'")) throw new Error("npy: expected f32");
  return Array.from({ length: (bytes.length - start) / 4 }, (_, i) => bytes.readFloatLE(start + 4 * i));
}
