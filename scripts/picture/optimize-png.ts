import { deflateSync, inflateSync } from "node:zlib";

/** Compresses a PNG of Chromium again, with its 256 most frequent colors, which a page of text and bars needs. */
export function optimizePng(png: Buffer): Buffer {
  const { width, height, pixels, channels } = decodePng(png);
  const readColor = (at: number) => pixels.readUIntBE(at * channels, 3);
  const palette = choosePalette(width * height, readColor);
  const indexes = Buffer.alloc((width + 1) * height);
  const known = new Map<number, number>();
  for (let at = 0; at < width * height; at++) {
    const color = readColor(at);
    const index = known.get(color) ?? findNearest(palette, color);
    known.set(color, index);
    indexes[at + Math.floor(at / width) + 1] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    SIGNATURE,
    createChunk("IHDR", header),
    createChunk("PLTE", Buffer.from(palette.flatMap(splitColor))),
    createChunk("IDAT", deflateSync(indexes, { level: 9 })),
    createChunk("IEND", Buffer.alloc(0)),
  ]);
}

function choosePalette(size: number, readColor: (at: number) => number): readonly number[] {
  const counts = new Map<number, number>();
  for (let at = 0; at < size; at++) {
    const color = readColor(at);
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  // Colors that are not gray are rare, and visible.
  const weigh = ([color, count]: readonly [number, number]) =>
    count * (1 + Math.max(...splitColor(color)) - Math.min(...splitColor(color)));
  const sorted = [...counts].sort((one, other) => weigh(other) - weigh(one));
  return sorted.slice(0, 256).map(([color]) => color);
}

function findNearest(palette: readonly number[], color: number): number {
  const wanted = splitColor(color);
  let [best, least] = [0, Infinity];
  for (const [index, candidate] of palette.entries()) {
    const distance = splitColor(candidate).reduce(
      (sum, one, at) => sum + (one - (wanted[at] ?? 0)) ** 2,
      0,
    );
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

function splitColor(color: number): readonly number[] {
  return [color >> 16, (color >> 8) & 255, color & 255];
}

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);

interface Decoded {
  readonly width: number;
  readonly height: number;
  readonly pixels: Buffer;
  readonly channels: number;
}

/** Decodes a PNG with 8 bits per channel, without interlacing, as Chromium writes it. */
function decodePng(png: Buffer): Decoded {
  const data: Buffer[] = [];
  let [width, height, channels] = [0, 0, 4];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString("latin1", at + 4, at + 8);
    const content = png.subarray(at + 8, at + 8 + length);
    if (type === "IHDR") {
      [width, height] = [content.readUInt32BE(0), content.readUInt32BE(4)];
      channels = content[9] === 2 ? 3 : 4;
    } else if (type === "IDAT") data.push(content);
    at += length + 12;
  }
  const pixels = unfilter(inflateSync(Buffer.concat(data)), width * channels, height, channels);
  return { width, height, pixels, channels };
}

/** Undoes the filters of a PNG, line by line. */
function unfilter(raw: Buffer, stride: number, height: number, step: number): Buffer {
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const value = raw[y * (stride + 1) + 1 + x] ?? 0;
      const left = x >= step ? (pixels[y * stride + x - step] ?? 0) : 0;
      const up = y > 0 ? (pixels[(y - 1) * stride + x] ?? 0) : 0;
      const corner = x >= step && y > 0 ? (pixels[(y - 1) * stride + x - step] ?? 0) : 0;
      pixels[y * stride + x] = value + predict(filter, left, up, corner);
    }
  }
  return pixels;
}

function predict(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const [a, b, c] = [
    Math.abs(up - corner),
    Math.abs(left - corner),
    Math.abs(left + up - 2 * corner),
  ];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function createChunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), content]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(content.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
