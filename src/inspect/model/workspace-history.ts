import { isPlainObject } from "../../base/freeze.ts";
import {
  readNumber,
  readRecord,
  readString,
  readStrings,
  type UnknownRecord,
} from "../../base/json.ts";
import type { FileChange } from "../file-change.ts";

/** The content of a file, as a manifest names it. */
interface FileContent {
  readonly sha256: string;
  readonly bytes: number | null;
}

type Tree = ReadonlyMap<string, FileContent>;

/** The most files that a change or a summary lists. */
const MAX_CHANGES = 2_000;

/** Knows the files of a session's workspaces from its manifests, and how each manifest differs from the one before. */
export class WorkspaceHistory {
  readonly #trees = new Map<string, Tree>();
  readonly #mounted = new Map<string, Tree>();
  #synced: readonly FileChange[] = [];

  /** Applies the manifest of a `WorkspaceKept`. Returns the files that changed. The first manifest is the mount. */
  keep(manifest: UnknownRecord): {
    readonly isFirst: boolean;
    readonly changes: readonly FileChange[];
  } {
    const section = readString(manifest, "section");
    const known = this.#trees.get(section);
    const isComplete = manifest["isComplete"] === true || !known;
    const now = new Map(isComplete ? [] : known);
    for (const path of readStrings(manifest, "deleted")) now.delete(path);
    for (const [path, content] of readTree(readRecord(manifest, "files"))) now.set(path, content);
    this.#trees.set(section, now);
    if (isComplete) {
      const mounted = readRecord(manifest, "mounted")["files"];
      this.#mounted.set(section, isPlainObject(mounted) ? readTree(mounted) : now);
    }
    const before = known ?? this.#mounted.get(section) ?? new Map();
    return { isFirst: !known, changes: compareTrees(before, now) };
  }

  /** Applies the lists of a `WorkspaceSynced`. Returns the files that changed. */
  sync(event: UnknownRecord): readonly FileChange[] {
    const list = (key: "added" | "changed" | "deleted") =>
      readStrings(event, key).map((path) => ({ path, change: key, ...UNKNOWN }));
    const changes = [...list("added"), ...list("changed"), ...list("deleted")];
    this.#synced = changes.slice(0, MAX_CHANGES);
    return this.#synced;
  }

  /** Lists the files that differ from the mounted ones. */
  listChanges(): readonly FileChange[] {
    const kept = [...this.#trees].flatMap(([section, tree]) =>
      compareTrees(this.#mounted.get(section) ?? new Map(), tree),
    );
    return kept.length > 0 ? kept.slice(0, MAX_CHANGES) : this.#synced;
  }
}

const UNKNOWN = { before: null, after: null, bytesBefore: null, bytesAfter: null };

function readTree(files: UnknownRecord): Map<string, FileContent> {
  const tree = new Map<string, FileContent>();
  for (const [path, file] of Object.entries(files)) {
    if (!isPlainObject(file)) continue;
    tree.set(path, { sha256: readString(file, "sha256"), bytes: readNumber(file, "bytes") });
  }
  return tree;
}

function compareTrees(before: Tree, after: Tree): readonly FileChange[] {
  const changes: FileChange[] = [];
  const add = (path: string, change: FileChange["change"]) => {
    const [old, now] = [before.get(path), after.get(path)];
    const digests = { before: old?.sha256 ?? null, after: now?.sha256 ?? null };
    const sizes = { bytesBefore: old?.bytes ?? null, bytesAfter: now?.bytes ?? null };
    if (changes.length < MAX_CHANGES) changes.push({ path, change, ...digests, ...sizes });
  };
  for (const [path, { sha256 }] of after) {
    const old = before.get(path);
    if (!old) add(path, "added");
    else if (old.sha256 !== sha256) add(path, "changed");
  }
  for (const path of before.keys()) if (!after.has(path)) add(path, "deleted");
  return changes;
}
