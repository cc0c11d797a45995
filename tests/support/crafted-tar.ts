/** A tar entry whose fields may be invalid. */
export interface CraftedEntry {
  readonly name?: string | Buffer;
  readonly prefix?: string;
  /** @default "0" */
  readonly type?: string;
  readonly content?: string | Buffer;
  /** The size in the header; a string or buffer is the raw field. @default the real size */
  readonly size?: number | string | Buffer;
  readonly mode?: string;
  /** @default the magic of POSIX */
  readonly magic?: string;
  readonly checksum?: string;
}

/** Creates a tar with correct checksums and two empty blocks at its end. */
export function createTar(...entries: readonly CraftedEntry[]): Buffer {
  return Buffer.concat([...entries.map(createTarEntry), Buffer.alloc(1024)]);
}

/** Creates the header and content of one entry. */
export function createTarEntry(entry: CraftedEntry): Buffer {
  const content = Buffer.from(entry.content ?? "");
  const padding = Buffer.alloc(-content.length & 511);
  return Buffer.concat([createTarHeader(entry, content.length), content, padding]);
}

/** Creates the content of a pax header. */
export function createPaxRecords(fields: Readonly<Record<string, string | Buffer>>): Buffer {
  const records = Object.entries(fields).map(([key, value]) => {
    const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from("\n")]);
    let length = rest.length;
    while (length !== rest.length + String(length).length) {
      length = rest.length + String(length).length;
    }
    return Buffer.concat([Buffer.from(String(length)), rest]);
  });
  return Buffer.concat(records);
}

function createTarHeader(entry: CraftedEntry, bytes: number): Buffer {
  const { name = "a", prefix = "", type = "0", mode = "0000644\0", magic = "ustar\x0000" } = entry;
  const size = entry.size ?? bytes;
  const block = Buffer.alloc(512);
  Buffer.from(name).copy(block, 0, 0, 100);
  block.write(mode, 100, 8, "latin1");
  const field = typeof size === "number" ? `${size.toString(8).padStart(11, "0")}\0` : size;
  Buffer.from(field).copy(block, 124, 0, 12);
  block.write(type, 156, 1, "latin1");
  block.write(magic, 257, 8, "latin1");
  block.write(prefix, 345, 155, "utf8");
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(entry.checksum ?? `${sum.toString(8).padStart(6, "0")}\0 `, 148, 8, "latin1");
  return block;
}
