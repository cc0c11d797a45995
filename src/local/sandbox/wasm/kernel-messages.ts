import { isPlainObject } from "../../../base/freeze.ts";

/** A change to one path below `/mnt/data`, reported by the side that made it. */
export type FileChange =
  | { readonly change: "folder"; readonly path: string }
  | {
      readonly change: "file";
      readonly path: string;
      readonly bytes: Uint8Array;
      /** Whether more bytes of the same file follow in the next change. */
      readonly more?: boolean | undefined;
    }
  | { readonly change: "deleted"; readonly path: string };

/** A change to the bytes of one file. */
export type FileContent = Extract<FileChange, { readonly change: "file" }>;

/** A message to the child process. */
export type KernelCommand =
  | { readonly type: "changes"; readonly changes: readonly FileChange[] }
  | {
      readonly type: "run";
      readonly code: string;
      readonly timeoutMs: number;
      readonly maxOutputBytes: number;
    };

/** A message from the child process. Untrusted until validated, because the model's code runs in the same process. */
export type KernelMessage =
  | { readonly type: "ready" }
  | { readonly type: "failed"; readonly problem: string }
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly bytes: Uint8Array }
  | {
      readonly type: "ran";
      readonly error: string | null;
      /** PNG images. */
      readonly images: readonly Uint8Array[];
      readonly timedOut: boolean;
    }
  | { readonly type: "changes"; readonly changes: readonly FileChange[] }
  | { readonly type: "filesSent"; readonly rejected: readonly string[] };

/** Validates a message from the child; `null` if the child would never send it. */
export function parseKernelMessage(message: unknown): KernelMessage | null {
  if (!isPlainObject(message)) return null;
  const { type, problem, stream, bytes, changes, rejected } = message;
  switch (type) {
    case "ready":
      return { type };
    case "failed":
      return typeof problem === "string" ? { type, problem } : null;
    case "output":
      if (!(bytes instanceof Uint8Array)) return null;
      return stream === "stdout" || stream === "stderr" ? { type, stream, bytes } : null;
    case "ran":
      return parseRunMessage(message);
    case "changes": {
      const read = parseList(changes, parseChange);
      return read && { type, changes: read };
    }
    case "filesSent": {
      const read = parseList(rejected, (path) => (typeof path === "string" ? path : null));
      return read && { type, rejected: read };
    }
    default:
      return null;
  }
}

function parseRunMessage(message: Readonly<Record<string, unknown>>): KernelMessage | null {
  const { error, timedOut } = message;
  const images = parseList(message["images"], (image) =>
    image instanceof Uint8Array ? image : null,
  );
  if (error !== null && typeof error !== "string") return null;
  if (typeof timedOut !== "boolean" || images === null) return null;
  return { type: "ran", error, images, timedOut };
}

function parseChange(entry: unknown): FileChange | null {
  if (!isPlainObject(entry)) return null;
  const { change, path, bytes, more } = entry;
  if (typeof path !== "string") return null;
  if (change === "folder" || change === "deleted") return { change, path };
  if (change !== "file" || !(bytes instanceof Uint8Array)) return null;
  return { change, path, bytes, ...(more === true && { more }) };
}

function parseList<Item>(
  list: unknown,
  read: (item: unknown) => Item | null,
): readonly Item[] | null {
  if (!Array.isArray(list)) return null;
  const items: Item[] = [];
  for (const one of list) {
    const item = read(one);
    if (item === null) return null;
    items.push(item);
  }
  return items;
}
