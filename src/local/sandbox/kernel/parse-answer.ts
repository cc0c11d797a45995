import type { SandboxImage } from "../sandbox.ts";

/** The interpreter's validated report on a run. */
export interface KernelAnswer {
  readonly error: string | null;
  readonly images: readonly SandboxImage[];
  /** Bytes printed to stdout, then to stderr, then to stdout again, and so on. */
  readonly order: readonly number[];
}

/** How a run that has no answer ended. */
export type SandboxEnding =
  | { readonly kind: "exit"; readonly code: number }
  | {
      readonly kind: "violation";
      readonly limit: ExceededLimit;
      /** No run was in progress, so none was affected. */
      readonly idle: boolean;
    };

/** The limit that was exceeded. */
export type ExceededLimit =
  | "memory"
  | "disk"
  | "temporary"
  | "depth"
  | "protocol"
  /** A process whose usage cannot be measured. */
  | "hidden"
  /** A process ran between two runs. */
  | "idle";

const EXCEEDED_LIMITS: ReadonlySet<unknown> = new Set<ExceededLimit>([
  "memory",
  "disk",
  "temporary",
  "depth",
  "protocol",
  "hidden",
  "idle",
]);
const BASE64_PNG = /^iVBORw0KGgo[A-Za-z0-9+/]*={0,2}$/;
const MAX_IMAGES = 20;
const MAX_ERROR_LENGTH = 100_000;
const MAX_SWITCHES = 10_000;

/** Parses the interpreter's report; `null` if it is invalid. The model's code may have forged it. */
export function parseAnswer(payload: Buffer): KernelAnswer | null {
  const answer = parseObject(payload);
  if (answer === null || !("error" in answer) || !("images" in answer)) return null;
  const { error, images } = answer;
  const order: unknown = "order" in answer ? answer.order : [];
  if (!Array.isArray(order) || order.length > MAX_SWITCHES || !order.every(isSize)) return null;
  if (error !== null && typeof error !== "string") return null;
  if (!Array.isArray(images) || images.length > MAX_IMAGES) return null;
  const pictures: readonly unknown[] = images;
  if (!pictures.every(isBase64Png)) return null;
  return {
    error: error === null ? null : error.slice(0, MAX_ERROR_LENGTH),
    images: pictures.map((base64) => ({ mediaType: "image/png", base64 })),
    order,
  };
}

/** Parses the last frame of a run or of the sandbox; `null` if it is invalid. */
export function parseEnding(payload: Buffer): SandboxEnding | null {
  const ending = parseObject(payload);
  if (ending === null) return null;
  if ("code" in ending && typeof ending.code === "number" && Number.isInteger(ending.code)) {
    return { kind: "exit", code: ending.code };
  }
  if ("violation" in ending && isExceededLimit(ending.violation)) {
    const idle = "idle" in ending && ending.idle === true;
    return { kind: "violation", limit: ending.violation, idle };
  }
  return null;
}

function parseObject(payload: Buffer): object | null {
  try {
    const value: unknown = JSON.parse(payload.toString("utf8"));
    return typeof value === "object" ? value : null;
  } catch {
    // Invalid JSON counts as no report: the caller then ends the sandbox.
    return null;
  }
}

function isBase64Png(value: unknown): value is string {
  return typeof value === "string" && BASE64_PNG.test(value);
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isExceededLimit(value: unknown): value is ExceededLimit {
  return EXCEEDED_LIMITS.has(value);
}
