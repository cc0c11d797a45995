import type { Multipart } from "./transport.ts";
import { chunksIn } from "./transport.ts";

/** A form as it is sent; its files are read meanwhile. */
export interface WrittenForm {
  /** With its boundary. */
  readonly contentType: string;
  readonly length: number;
  /**
   * Its bytes. `spare` is told before each piece whose memory belongs to nobody else: it may be
   * freed once the piece was sent.
   */
  pieces(spare?: (piece: Uint8Array) => void): AsyncGenerator<Uint8Array>;
}

/** Writes a form as browsers do, down to how they escape names. */
export function writtenForm(form: Multipart): WrittenForm {
  const boundary = `----weakincentives${crypto.randomUUID().replaceAll("-", "")}`;
  const encoder = new TextEncoder();
  const parts: (Uint8Array | File)[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(lines(name))}"`;
    if (typeof value === "string") {
      parts.push(encoder.encode(`${head}\r\n\r\n${lines(value)}\r\n`));
      continue;
    }
    const type = value.type || "application/octet-stream";
    const file = `; filename="${escaped(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`;
    parts.push(encoder.encode(head + file), value, encoder.encode("\r\n"));
  }
  parts.push(encoder.encode(`--${boundary}--\r\n`));
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: parts.reduce((length, part) => length + sizeOf(part), 0),
    pieces: (spare = () => {}) => piecesOf(parts, spare),
  };
}

async function* piecesOf(
  parts: readonly (Uint8Array | File)[],
  spare: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Uint8Array) {
      yield part;
      continue;
    }
    const isOurs = part.stream === Blob.prototype.stream; // another's may give what it still needs
    for await (const piece of chunksIn(part.stream())) {
      if (isOurs) spare(piece);
      yield piece;
    }
  }
}

function sizeOf(part: Uint8Array | File): number {
  return part instanceof Uint8Array ? part.length : part.size;
}

/** Nothing that ends a name, its header or its line is left in it. */
function escaped(name: string): string {
  return name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}

function lines(text: string): string {
  return text.replace(/\r\n|\r|\n/g, "\r\n");
}
