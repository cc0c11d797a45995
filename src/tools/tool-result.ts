import { messageOf } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";

/** What a tool gives back: `message` is for the model, `value` is for the program and the model. */
export interface ToolResult<Value> {
  readonly success: boolean;
  readonly message: string;
  readonly value: Value | null;
  /** The model reads the message only. @default false */
  readonly excludeValueFromContext?: boolean | undefined;
}

/** `ToolResult.ok(rows)`, `ToolResult.error("There is no such table.")` */
export const ToolResult = Object.freeze({
  ok: <Value>(value: Value, message = "OK"): ToolResult<Value> => ({
    success: true,
    message,
    value,
  }),
  // The value of a failure is for programs to look at, whatever the tool's result type is.
  error: (message: string, value: unknown = null): ToolResult<never> => ({
    success: false,
    message,
    value: value as never,
  }),
});

/** Whether a handler gave back a result, and not something else. */
export function isToolResult(value: unknown): value is ToolResult<unknown> {
  if (typeof value !== "object" || value === null) return false;
  const { success, message } = value as Partial<ToolResult<unknown>>;
  return typeof success === "boolean" && typeof message === "string" && "value" in value;
}

/**
 * A result's value as text: what `render` says, else what its own `render()` says, else a string
 * as it is, bytes as UTF-8, a list of renderables one below the other, and JSON for the rest.
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
    return `${serialised(value)}\n(its render failed: ${messageOf(error)})`;
  }
  return serialised(value);
}

/** What the model reads of a result: the message, then the value, without whichever is empty. */
export function textForModel(result: ToolResult<unknown>, renderedValue: string): string {
  if (result.excludeValueFromContext || renderedValue === "") return result.message;
  return result.message === "" ? renderedValue : `${result.message}\n\n${renderedValue}`;
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

function serialised(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  try {
    return JSON.stringify(value, jsonSafe) ?? String(value);
  } catch {
    return isPlainObject(value) || Array.isArray(value)
      ? "(a value that contains itself)"
      : String(value);
  }
}

function jsonSafe(_key: string, part: unknown): unknown {
  if (typeof part === "bigint") return part.toString();
  if (part instanceof Map) return Object.fromEntries(part);
  return part instanceof Set ? [...part] : part;
}
