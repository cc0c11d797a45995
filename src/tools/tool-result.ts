import { getErrorMessage } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { findJsonProblem, isTooDeep } from "../base/json.ts";

/** The result of a tool call. The model reads `message` and `value`; your program reads `value`. */
export interface ToolResult<Value> {
  /** Whether the call succeeded. */
  readonly success: boolean;
  /** Text for the model. */
  readonly message: string;
  /** Value for the program and the model; `null` if there is none. */
  readonly value: Value | null;
  /** Shows the model only `message`, not `value`. @default false */
  readonly excludeValueFromContext?: boolean | undefined;
}

/** Creates results: `ToolResult.ok(rows)`, `ToolResult.error("The table does not exist.")`. */
export const ToolResult = Object.freeze({
  ok: <Value>(value: Value, message = "OK"): ToolResult<Value> => ({
    success: true,
    message,
    value,
  }),
  // The value of a failure is for programs, and may differ from the tool's result type.
  error: (message: string, value: unknown = null): ToolResult<never> => ({
    success: false,
    message,
    value: value as never,
  }),
});

/** Returns whether a handler's return value is a `ToolResult`. */
export function isToolResult(value: unknown): value is ToolResult<unknown> {
  if (typeof value !== "object" || value === null) return false;
  const { success, message } = value as Partial<ToolResult<unknown>>;
  return typeof success === "boolean" && typeof message === "string" && "value" in value;
}

/**
 * Converts a result's value to text. Uses `render` if passed, else the value's own `render()`. A
 * string is returned unchanged, bytes are decoded as UTF-8, an array of renderable values is joined
 * by blank lines, and other values become JSON.
 */
export function renderValue(value: unknown, render?: ((value: never) => string) | null): string {
  if (value === null || value === undefined) return "";
  try {
    if (render) return String(render(value as never));
    if (isRenderable(value)) return String(value.render());
    if (Array.isArray(value) && value.some(isRenderable)) {
      return value.map((item) => renderValue(item)).join("\n\n");
    }
  } catch (error) {
    return `${serializeValue(value)}\n(render failed: ${getErrorMessage(error)})`;
  }
  return serializeValue(value);
}

/**
 * Joins a result's message and rendered value into the text that the model reads. Empty parts are
 * omitted.
 */
export function toModelText(result: ToolResult<unknown>, renderedValue: string): string {
  if (result.excludeValueFromContext || renderedValue === "") return result.message;
  return result.message === "" ? renderedValue : `${result.message}\n\n${renderedValue}`;
}

/** Converts a value to JSON data: class instances become plain objects. `null` if it cannot be converted. */
export function toJsonData(value: unknown): unknown {
  if (findJsonProblem(value) === null) return value;
  try {
    const data: unknown = JSON.parse(JSON.stringify(value, toJsonSafe) ?? "null");
    return isTooDeep(data) ? null : data;
  } catch {
    return null; // circular, or too deep
  }
}

function isRenderable(value: unknown): value is { render(): unknown } {
  return (
    typeof value === "object" &&
    value !== null &&
    "render" in value &&
    typeof value.render === "function" &&
    value.render.length === 0
  );
}

function serializeValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  try {
    return JSON.stringify(value, toJsonSafe) ?? String(value);
  } catch {
    return isPlainObject(value) || Array.isArray(value) ? "(a circular value)" : String(value);
  }
}

function toJsonSafe(_key: string, part: unknown): unknown {
  if (typeof part === "bigint") return part.toString();
  if (part instanceof Map) return Object.fromEntries(part);
  if (part instanceof Uint8Array) return new TextDecoder().decode(part);
  return part instanceof Set ? [...part] : part;
}
