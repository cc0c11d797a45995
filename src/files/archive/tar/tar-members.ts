import { FilesystemError } from "../../../base/filesystem-error.ts";
import { type PaxRecords, readPax } from "./pax-records.ts";
import { isEmptyBlock, readBlock, type TarBlock, tarText, untilNul } from "./tar-block.ts";
import { TAR_BLOCK_BYTES } from "./tar-header.ts";
import { cutOff, TAR_CHUNK_BYTES, type TarSource } from "./tar-source.ts";

/** Anything that a tar holds. Of its name, only that it is text is known. */
export interface TarMember {
  readonly name: string;
  readonly kind: TarKind;
  readonly bytes: number;
  readonly mode: number;
  /** Where its bytes are. */
  readonly offset: number;
}

export type TarKind =
  | "file"
  | "folder"
  | "hard link"
  | "symlink"
  | "device"
  | "pipe"
  | "sparse file"
  | "note on the archive"
  | "thing of an unknown kind";

/**
 * What a tar holds, in order: the form of it is checked, and what it says is not. Throws
 * `FilesystemError` for one that is damaged or cut off.
 */
export async function* tarMembers(source: TarSource): AsyncGenerator<TarMember> {
  let ahead: SaidAhead = {};
  for (let at = 0; ; ) {
    const block = await source.bytes(at, TAR_BLOCK_BYTES);
    if (isEmptyBlock(block)) {
      const next = await source.bytes(at + TAR_BLOCK_BYTES, TAR_BLOCK_BYTES);
      if (!isEmptyBlock(next) || Object.keys(ahead).length > 0) throw damaged(source, at);
      return;
    }
    const header = readBlock(block);
    if (header === null) throw damaged(source, at);
    const offset = at + TAR_BLOCK_BYTES;
    const isAhead = AHEAD.has(header.type);
    const bytes = isAhead ? header.bytes : (ahead.pax?.bytes ?? header.bytes);
    if (!source.holds(offset, bytes)) throw cutOff(source);
    if (isAhead) {
      ahead = await withSaid(ahead, { ...header, offset, source });
    } else {
      yield memberOf(header, ahead, { bytes, offset, source });
      ahead = {};
    }
    at = offset + bytes + (-bytes & (TAR_BLOCK_BYTES - 1));
  }
}

/** What stands before an entry, about it. */
interface SaidAhead {
  readonly pax?: PaxRecords;
  readonly longName?: Uint8Array;
  readonly longLink?: true;
}

const AHEAD: ReadonlySet<string> = new Set(["x", "L", "K"]);

interface Saying extends TarBlock {
  readonly offset: number;
  readonly source: TarSource;
}

/** Each thing is said once, and none of them at such length that it would fill the memory. */
async function withSaid(ahead: SaidAhead, said: Saying): Promise<SaidAhead> {
  const { type, bytes, offset, source } = said;
  const key = type === "x" ? "pax" : type === "L" ? "longName" : "longLink";
  if (key in ahead || bytes > TAR_CHUNK_BYTES) throw damaged(source, offset - TAR_BLOCK_BYTES);
  if (key === "longLink") return { ...ahead, longLink: true };
  const content = await source.bytes(offset, bytes);
  if (key === "longName") return { ...ahead, longName: untilNul(content) };
  const pax = readPax(content);
  if (pax === null) throw damaged(source, offset - TAR_BLOCK_BYTES);
  return { ...ahead, pax };
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
  ["g", "note on the archive"],
]);

/** No two readers agree on what follows one of these that claims to hold bytes. */
const EMPTY: ReadonlySet<TarKind> = new Set(["folder", "hard link", "symlink", "device", "pipe"]);

function memberOf(
  { type, mode, name: short }: TarBlock,
  { pax, longName }: SaidAhead,
  { bytes, offset, source }: Pick<Saying, "bytes" | "offset" | "source">,
): TarMember {
  const name = pax?.path === undefined ? tarText(longName ?? short) : pax.path;
  if (name === null) throw notText(source, offset);
  const kind = kindOf(type, name, pax?.isSparse ?? false);
  if (EMPTY.has(kind) && bytes > 0) throw damaged(source, offset - TAR_BLOCK_BYTES);
  return { name, kind, bytes, mode, offset };
}

function kindOf(type: string, name: string, isSparse: boolean): TarKind {
  if (type === "\0" && name.endsWith("/")) return "folder"; // from before there were folders
  const kind = KINDS.get(type) ?? "thing of an unknown kind";
  return kind === "file" && isSparse ? "sparse file" : kind;
}

function damaged({ path }: TarSource, at: number): FilesystemError {
  return FilesystemError.invalid(path, `is damaged at byte ${at}: make the archive again`);
}

function notText({ path }: TarSource, at: number): FilesystemError {
  const problem = `names a file before byte ${at} by what is not UTF-8: rename it there`;
  return FilesystemError.invalid(path, problem);
}
