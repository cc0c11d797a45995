/** An entry of a tar, as nobody would write it. */
export interface CraftedEntry {
  readonly name?: string | Buffer;
  readonly prefix?: string;
  /** @default "0" */
  readonly type?: string;
  readonly content?: string | Buffer;
  /** What the header says: the field itself, if it is text. @default the truth */
  readonly size?: number | string | Buffer;
  readonly mode?: string;
  /** @default that of POSIX */
  readonly magic?: string;
  readonly checksum?: string;
}

/** A tar of these, with a true checksum each, and two empty blocks at its end. */
export function craftedTar(...entries: readonly CraftedEntry[]): Buffer {
  return Buffer.concat([...entries.map(craftedEntry), Buffer.alloc(1024)]);
}

export function craftedEntry(entry: CraftedEntry): Buffer {
  const content = Buffer.from(entry.content ?? "");
  const padding = Buffer.alloc(-content.length & 511);
  return Buffer.concat([craftedHeader(entry, content.length), content, padding]);
}

/** The content of a pax header. */
export function paxRecords(fields: Readonly<Record<string, string | Buffer>>): Buffer {
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

function craftedHeader(entry: CraftedEntry, bytes: number): Buffer {
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
