import { crc32, deflateRawSync, gzipSync } from "node:zlib";

const MiB = 2 ** 20;

/** So many zeros, in layers of gzip: some kilobytes that would unpack to a quarter of a gibibyte. */
export function gzipBomb(bytes: number = 256 * MiB): Buffer {
  return gzipSync(gzipSync(Buffer.alloc(bytes), { level: 9 }), { level: 9 });
}

/**
 * A zip whose entries all are the same 16 MiB of zeros: some tens of kilobytes that would unpack to
 * `entries` times as much. Its names point out of the folder that it would be unpacked in.
 */
export function zipBomb(entries = 4_000): Buffer {
  const zeros = Buffer.alloc(16 * MiB);
  const packed = deflateRawSync(zeros, { level: 9 });
  const sizes = { packed: packed.length, whole: zeros.length, crc: crc32(zeros) };
  const local = Buffer.concat([header(LOCAL, "../../0", sizes), packed]);
  const central = Array.from({ length: entries }, (_, place) =>
    header(CENTRAL, `../../${place}`, sizes),
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

/** Where the fields of the two kinds of header are, after their signatures. */
const LOCAL = { signature: 0x04034b50, length: 30, method: 8, crc: 14 };
const CENTRAL = { signature: 0x02014b50, length: 46, method: 10, crc: 16 };

function header(kind: typeof LOCAL, name: string, { packed, whole, crc }: Sizes): Buffer {
  const fields = Buffer.alloc(kind.length);
  fields.writeUInt32LE(kind.signature, 0);
  fields.writeUInt16LE(8, kind.method); // deflated
  fields.writeUInt32LE(crc, kind.crc);
  fields.writeUInt32LE(packed, kind.crc + 4);
  fields.writeUInt32LE(whole, kind.crc + 8);
  fields.writeUInt16LE(name.length, kind.crc + 12);
  return Buffer.concat([fields, Buffer.from(name)]);
}
