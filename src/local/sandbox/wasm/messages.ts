import { isPlainObject } from "../../../base/freeze.ts";
import type { SandboxImage } from "../sandbox.ts";

/** What became of one path below `/mnt/data`, told by the side that changed it. */
export type FileChange =
  | { readonly change: "folder"; readonly path: string }
  | { readonly change: "file"; readonly path: string; readonly bytes: Uint8Array }
  | { readonly change: "gone"; readonly path: string };

/** What the child is asked to do. */
export type ToKernel =
  | { readonly type: "changes"; readonly changes: readonly FileChange[] }
  | {
      readonly type: "run";
      readonly code: string;
      readonly timeoutMs: number;
      readonly maxOutputBytes: number;
    };

/** What the child tells. Code that a model wrote runs beside it, so none of it is believed unread. */
export type FromKernel =
  | { readonly type: "ready" }
  | { readonly type: "failed"; readonly problem: string }
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly bytes: Uint8Array }
  | {
      readonly type: "ran";
      readonly error: string | null;
      readonly images: readonly SandboxImage[];
      readonly timedOut: boolean;
    }
  | { readonly type: "changes"; readonly changes: readonly FileChange[] }
  | { readonly type: "kept"; readonly left: readonly string[] };

/** A message as the child sent it, or `null` if it is none that the child would send. */
export function readFromKernel(message: unknown): FromKernel | null {
  if (!isPlainObject(message)) return null;
  const { type, problem, stream, bytes, changes, left } = message;
  switch (type) {
    case "ready":
      return { type };
    case "failed":
      return typeof problem === "string" ? { type, problem } : null;
    case "output":
      if (!(bytes instanceof Uint8Array)) return null;
      return stream === "stdout" || stream === "stderr" ? { type, stream, bytes } : null;
    case "ran":
      return readRan(message);
    case "changes": {
      const read = readList(changes, readChange);
      return read && { type, changes: read };
    }
    case "kept": {
      const read = readList(left, (path) => (typeof path === "string" ? path : null));
      return read && { type, left: read };
    }
    default:
      return null;
  }
}

function readRan(message: Readonly<Record<string, unknown>>): FromKernel | null {
  const { error, timedOut } = message;
  const images = readList(message["images"], readImage);
  if (error !== null && typeof error !== "string") return null;
  if (typeof timedOut !== "boolean" || images === null) return null;
  return { type: "ran", error, images, timedOut };
}

function readImage(image: unknown): SandboxImage | null {
  if (!isPlainObject(image)) return null;
  const { mediaType, base64 } = image;
  if (mediaType !== "image/png" || typeof base64 !== "string") return null;
  return { mediaType, base64 };
}

function readChange(entry: unknown): FileChange | null {
  if (!isPlainObject(entry)) return null;
  const { change, path, bytes } = entry;
  if (typeof path !== "string") return null;
  if (change === "folder" || change === "gone") return { change, path };
  return change === "file" && bytes instanceof Uint8Array ? { change, path, bytes } : null;
}

function readList<Item>(
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
