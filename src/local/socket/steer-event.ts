import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import { invalidType } from "../api-problem.ts";

/** A `response.steer` event: input for the continuation of a response that is running. */
export interface SteerEvent {
  /** The response to steer. */
  readonly target: string;
  /** The input as the client sent it. */
  readonly input: unknown;
  /** The input as user messages; `null` if it is invalid. */
  readonly items: readonly WireItem[] | null;
}

/** Reads a `response.steer` event. Invalid input is reported by an event that returns it, so it is not an error here. */
export function readSteerEvent({ type: _, ...event }: WireItem): SteerEvent {
  const { previous_response_id: target, input, ...others } = event;
  if (typeof target !== "string") throw invalidType("previous_response_id", "a string", target);
  const isPlain = Object.keys(others).length === 0;
  return { target, input, items: isPlain ? readMessages(input) : null };
}

function readMessages(input: unknown): readonly WireItem[] | null {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  if (!Array.isArray(input) || input.length === 0) return null;
  const messages = input.filter(isUserMessage);
  return messages.length === input.length
    ? messages.map((message) => ({ type: "message", ...message }))
    : null;
}

function isUserMessage(item: unknown): item is WireItem {
  if (!isPlainObject(item)) return false;
  const { type = "message", role, content, ...others } = item;
  const isText = typeof content === "string";
  const hasContent = isText || (Array.isArray(content) && content.every(isInputPart));
  const isPlain = Object.keys(others).length === 0;
  return type === "message" && role === "user" && hasContent && isPlain;
}

function isInputPart(part: unknown): boolean {
  return isPlainObject(part) && PART_TYPES.has(part["type"]);
}

const PART_TYPES: ReadonlySet<unknown> = new Set(["input_text", "input_image", "input_file"]);
