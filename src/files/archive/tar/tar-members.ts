import { FilesystemError } from "../../../base/filesystem-error.ts";
import { type PaxRecords, parsePax } from "./pax-records.ts";
import {
  decodeTarText,
  isEmptyBlock,
  parseTarBlock,
  type TarBlock,
  trimAtNul,
} from "./tar-block.ts";
import { TAR_BLOCK_BYTES } from "./tar-header.ts";
import { createCutOffError, TAR_CHUNK_BYTES, type TarSource } from "./tar-source.ts";

/** An entry of any kind in a tar. The name is valid UTF-8 but not checked further. */
export interface TarMember {
  readonly name: string;
  readonly kind: TarKind;
  readonly bytes: number;
  readonly mode: number;
  /** Where the entry's bytes start in the tar. */
  readonly offset: number;
}

/** The kind of a tar entry. */
export type TarKind =
  | "file"
  | "folder"
  | "hard link"
  | "symlink"
  | "device"
  | "pipe"
  | "sparse file"
  | "global header"
  | "file of unknown type";

/**
 * Reads the entries of a tar in order. Checks the format, but not names or kinds. Throws `FilesystemError`
 * if the tar is damaged or cut off.
 */
export async function* readTarMembers(source: TarSource): AsyncGenerator<TarMember> {
  let extended: ExtendedHeaders = {};
  for (let at = 0; ; ) {
    const block = await source.readBytes(at, TAR_BLOCK_BYTES);
    if (isEmptyBlock(block)) {
      const next = await source.readBytes(at + TAR_BLOCK_BYTES, TAR_BLOCK_BYTES);
      if (!isEmptyBlock(next) || Object.keys(extended).length > 0)
        throw createDamageError(source, at);
      return;
    }
    const header = parseTarBlock(block);
    if (header === null) throw createDamageError(source, at);
    const offset = at + TAR_BLOCK_BYTES;
    const isExtended = EXTENDED_TYPES.has(header.type);
    const bytes = isExtended ? header.bytes : (extended.pax?.bytes ?? header.bytes);
    if (!source.hasBytes(offset, bytes)) throw createCutOffError(source);
    if (isExtended) {
      extended = await addExtendedHeader(extended, { ...header, offset, source });
    } else {
      yield createMember(header, extended, { bytes, offset, source });
      extended = {};
    }
    at = offset + bytes + (-bytes & (TAR_BLOCK_BYTES - 1));
  }
}

/** The extended headers that precede an entry and describe it. */
interface ExtendedHeaders {
  readonly pax?: PaxRecords;
  readonly longName?: Uint8Array;
  readonly longLink?: true;
}

const EXTENDED_TYPES: ReadonlySet<string> = new Set(["x", "L", "K"]);

interface ExtendedHeader extends TarBlock {
  readonly offset: number;
  readonly source: TarSource;
}

/** Adds an extended header. Rejects duplicates and headers too large to hold in memory. */
async function addExtendedHeader(
  extended: ExtendedHeaders,
  header: ExtendedHeader,
): Promise<ExtendedHeaders> {
  const { type, bytes, offset, source } = header;
  const key = type === "x" ? "pax" : type === "L" ? "longName" : "longLink";
  if (key in extended || bytes > TAR_CHUNK_BYTES)
    throw createDamageError(source, offset - TAR_BLOCK_BYTES);
  if (key === "longLink") return { ...extended, longLink: true };
  const content = await source.readBytes(offset, bytes);
  if (key === "longName") return { ...extended, longName: trimAtNul(content) };
  const pax = parsePax(content);
  if (pax === null) throw createDamageError(source, offset - TAR_BLOCK_BYTES);
  return { ...extended, pax };
}

const KINDS: ReadonlyMap<string, TarKind> = new Map([
  ["0", "file"],
  ["\0", "file"],
  ["7", "file"],
  ["1", "hard link"],
  ["2", "symlink"],
  ["3", "device"],
  ["4", "device"],
  ["5", "folder"],
  ["6", "pipe"],
  ["S", "sparse file"],
  ["g", "global header"],
]);

/** Kinds that must have no bytes. Tar readers disagree about the next header if such an entry claims a size. */
const KINDS_WITHOUT_BYTES: ReadonlySet<TarKind> = new Set([
  "folder",
  "hard link",
  "symlink",
  "device",
  "pipe",
]);

function createMember(
  { type, mode, name: short }: TarBlock,
  { pax, longName }: ExtendedHeaders,
  { bytes, offset, source }: Pick<ExtendedHeader, "bytes" | "offset" | "source">,
): TarMember {
  const name = pax?.path === undefined ? decodeTarText(longName ?? short) : pax.path;
  if (name === null) throw createNameError(source, offset);
  const kind = toTarKind(type, name, pax?.isSparse ?? false);
  if (KINDS_WITHOUT_BYTES.has(kind) && bytes > 0)
    throw createDamageError(source, offset - TAR_BLOCK_BYTES);
  return { name, kind, bytes, mode, offset };
}

function toTarKind(type: string, name: string, isSparse: boolean): TarKind {
  if (type === "\0" && name.endsWith("/")) return "folder"; // tar formats before POSIX had no folder type
  const kind = KINDS.get(type) ?? "file of unknown type";
  return kind === "file" && isSparse ? "sparse file" : kind;
}

function createDamageError({ path }: TarSource, at: number): FilesystemError {
  return FilesystemError.invalid(path, `is damaged at byte ${at}. Create the archive again.`);
}

function createNameError({ path }: TarSource, at: number): FilesystemError {
  const problem = `has a file name before byte ${at} that is not valid UTF-8. Rename the file.`;
  return FilesystemError.invalid(path, problem);
}
