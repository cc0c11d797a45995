/** An instruction of a seccomp filter: code, instructions to skip if true and if false, value. */
export type Instruction = readonly [
  code: number,
  jumpTrue: number,
  jumpFalse: number,
  value: number,
];

/** Encodes instructions as `struct sock_filter`, little-endian on both architectures. */
export function encodeFilter(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, jumpTrue, jumpFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jumpTrue, index * 8 + 2);
    bytes.writeUInt8(jumpFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return bytes;
}
