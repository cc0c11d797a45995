import type { ResponsePart } from "../../adapter/turn-observer.ts";
import { readRecord, readString, type UnknownRecord } from "../../base/json.ts";
import type { ReportedTool } from "../tools/hosted-kind.ts";
import { toToolName } from "../tools/tool-bridge.ts";
import { JsonCompactor } from "./json-compactor.ts";
import { ANSWER_TOOL } from "./run-state.ts";
import { StringFieldReader } from "./string-field-reader.ts";

/** A part of a response without the number of its turn. */
export type MessagePart = ResponsePart extends infer Part
  ? Part extends ResponsePart
    ? Omit<Part, "turn">
    : never
  : never;

/** Converts the content of one block. */
export interface BlockContext {
  /** Returns how calls to a native tool are reported; `null` if they are not. */
  findNative(name: string): ReportedTool | null;
  /** Receives text of the model. */
  onText(text: string): void;
  /** Receives JSON of a structured answer. */
  onAnswer(json: string): void;
  /** Receives the parts of other blocks. */
  onPart(part: MessagePart): void;
}

/** Takes the next piece of a content block. */
export type TakePiece = (piece: string) => void;

/** Begins a content block, with the content that it already has. Returns a function for the rest. */
export function startBlock(block: UnknownRecord, context: BlockContext): TakePiece {
  const takePiece = createBlock(block, context);
  const piece = readPiece(block);
  if (piece !== "") takePiece(piece);
  const input = readRecord(block, "input");
  if (Object.keys(input).length > 0) takePiece(JSON.stringify(input));
  return takePiece;
}

/** Reads the new piece of a block: text, thinking or JSON. Signatures and citations have none. */
export function readPiece(delta: UnknownRecord): string {
  const pieces = ["text", "thinking", "partial_json"].map((key) => readString(delta, key));
  return pieces.join("");
}

function createBlock(block: UnknownRecord, context: BlockContext): TakePiece {
  switch (block["type"]) {
    case "text":
      return (piece) => context.onText(piece);
    case "thinking":
      return (delta) => context.onPart({ type: "reasoning", delta });
    case "tool_use":
      return createCallBlock(readString(block, "id"), readString(block, "name"), context);
    default:
      return () => {};
  }
}

function createCallBlock(callId: string, name: string, context: BlockContext): TakePiece {
  if (name === ANSWER_TOOL) return createAnswerBlock(context);
  const native = context.findNative(name);
  if (native) return createNativeBlock(callId, native, context);
  const call = { type: "toolCall", callId, name: toToolName(name) ?? name } as const;
  context.onPart({ ...call, delta: "" });
  return (delta) => context.onPart({ ...call, delta });
}

/** The input of the SDK's tool for structured answers is the response's text, as compact JSON. */
function createAnswerBlock(context: BlockContext): TakePiece {
  const compactor = new JsonCompactor();
  context.onAnswer("");
  return (piece) => context.onAnswer(compactor.add(piece));
}

function createNativeBlock(
  callId: string,
  { kind, codeField }: ReportedTool,
  context: BlockContext,
): TakePiece {
  const call = { type: "hostedCall", callId, kind, status: "in_progress" } as const;
  context.onPart(call);
  if (codeField === undefined) return () => {};
  const code = new StringFieldReader(codeField);
  return (piece) => {
    const delta = code.add(piece);
    if (delta !== "") context.onPart({ ...call, delta });
  };
}
