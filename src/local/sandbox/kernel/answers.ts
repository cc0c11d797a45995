import type { SandboxImage } from "../sandbox.ts";

/** What the interpreter says of a run, once what was wrong with it is gone. */
export interface KernelAnswer {
  readonly error: string | null;
  readonly images: readonly SandboxImage[];
}

/** How everything in a sandbox came to its end. */
export type Ending =
  | { readonly kind: "exit"; readonly code: number }
  | { readonly kind: "violation"; readonly limit: ExceededLimit };

/** Which limit was exceeded. */
export type ExceededLimit = "memory" | "disk" | "temporary" | "depth" | "protocol";

const EXCEEDED: ReadonlySet<unknown> = new Set<ExceededLimit>([
  "memory",
  "disk",
  "temporary",
  "depth",
  "protocol",
]);
const BASE64_PNG = /^iVBORw0KGgo[A-Za-z0-9+/]*={0,2}$/;
const MOST_IMAGES = 20;
const LONGEST_ERROR = 100_000;

/** Reads an answer; `null` if it is none. The model's code may have written it. */
export function readAnswer(payload: Buffer): KernelAnswer | null {
  const answer = parsedObject(payload);
  if (answer === null || !("error" in answer) || !("images" in answer)) return null;
  const { error, images } = answer;
  if (error !== null && typeof error !== "string") return null;
  if (!Array.isArray(images) || images.length > MOST_IMAGES) return null;
  const pictures: readonly unknown[] = images;
  if (!pictures.every(isPicture)) return null;
  return {
    error: error === null ? null : error.slice(0, LONGEST_ERROR),
    images: pictures.map((base64) => ({ mediaType: "image/png", base64 })),
  };
}

/** Reads the last frame of a sandbox; `null` if it is none. */
export function readEnding(payload: Buffer): Ending | null {
  const ending = parsedObject(payload);
  if (ending === null) return null;
  if ("code" in ending && typeof ending.code === "number" && Number.isInteger(ending.code)) {
    return { kind: "exit", code: ending.code };
  }
  if ("violation" in ending && isExceededLimit(ending.violation)) {
    return { kind: "violation", limit: ending.violation };
  }
  return null;
}

function parsedObject(payload: Buffer): object | null {
  try {
    const value: unknown = JSON.parse(payload.toString("utf8"));
    return typeof value === "object" ? value : null;
  } catch {
    // Not JSON is as good as no answer: the caller ends the sandbox for it.
    return null;
  }
}

function isPicture(value: unknown): value is string {
  return typeof value === "string" && BASE64_PNG.test(value);
}

function isExceededLimit(value: unknown): value is ExceededLimit {
  return EXCEEDED.has(value);
}
