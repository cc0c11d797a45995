import type { Multipart } from "./transport.ts";
import { iterateStream } from "./transport.ts";

/** An encoded form. Its files are read while it is sent. */
export interface EncodedForm {
  /** Includes the boundary. */
  readonly contentType: string;
  readonly length: number;
  /**
   * Generates the form's bytes. Calls `spare` before each piece whose memory is not shared and can
   * be freed when the piece has been sent.
   */
  pieces(spare?: (piece: Uint8Array) => void): AsyncGenerator<Uint8Array>;
}

/** Encodes a form exactly as browsers do, including how they escape names. */
export function encodeForm(form: Multipart): EncodedForm {
  const boundary = `----weakincentives${crypto.randomUUID().replaceAll("-", "")}`;
  const encoder = new TextEncoder();
  const parts: (Uint8Array | File)[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(normalizeLineBreaks(name))}"`;
    if (typeof value === "string") {
      parts.push(encoder.encode(`${head}\r\n\r\n${normalizeLineBreaks(value)}\r\n`));
      continue;
    }
    const type = value.type || "application/octet-stream";
    const file = `; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`;
    parts.push(encoder.encode(head + file), value, encoder.encode("\r\n"));
  }
  parts.push(encoder.encode(`--${boundary}--\r\n`));
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: parts.reduce((length, part) => length + getSize(part), 0),
    pieces: (spare = () => {}) => generatePieces(parts, spare),
  };
}

async function* generatePieces(
  parts: readonly (Uint8Array | File)[],
  spare: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Uint8Array) {
      yield part;
      continue;
    }
    const isNative = part.stream === Blob.prototype.stream; // a custom stream may reuse its memory
    for await (const piece of iterateStream(part.stream())) {
      if (isNative) spare(piece);
      yield piece;
    }
  }
}

function getSize(part: Uint8Array | File): number {
  return part instanceof Uint8Array ? part.length : part.size;
}

/** Escapes the characters that would end the name, the header or the line. */
function escapeName(name: string): string {
  return name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}

function normalizeLineBreaks(text: string): string {
  return text.replace(/\r\n|\r|\n/g, "\r\n");
}
