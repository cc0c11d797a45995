import { createUnknownKeyError, InvalidOptionError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { type Attachment, checkAttachment } from "./attachment.ts";

/** A part of the user's input: text, or a file or image. */
export type InputPart =
  | {
      /** Discriminates text from attachments. */
      readonly type: "text";
      /** The text. */
      readonly text: string;
    }
  | Attachment;

const field = "evaluate(input)";
const remedy = 'pass text, or parts such as { type: "text", text: "Hello" } and { path: "a.pdf" }';

/** Returns the parts of a user's input, frozen. Throws if a part is invalid or there is none. */
export function checkInput(input: string | readonly InputPart[]): readonly InputPart[] {
  if (typeof input === "string")
    return Object.freeze([checkText({ type: "text", text: input }, field)]);
  if (!Array.isArray(input) || input.length === 0) {
    const rule = "must be text or an array of parts";
    throw new InvalidOptionError({ field, value: input, rule, remedy });
  }
  return Object.freeze(input.map((part, index) => checkPart(part, `${field}[${index}]`)));
}

/** Whether a part of an input is text. */
export function isTextPart(part: InputPart): part is Extract<InputPart, { type: "text" }> {
  return "type" in part;
}

/** Joins the text of an input. Returns `null` if it has none. */
export function joinInputText(parts: readonly InputPart[]): string | null {
  const texts = parts.filter(isTextPart).map(({ text }) => text);
  return texts.length === 0 ? null : texts.join("\n\n");
}

function checkPart(part: InputPart, at: string): InputPart {
  return isPlainObject(part) && "type" in part
    ? checkText(part as { readonly type: "text"; readonly text: string }, at)
    : checkAttachment(part as Attachment, at);
}

function checkText(part: { readonly type: "text"; readonly text: string }, at: string): InputPart {
  const unknown = Object.keys(part).find((key) => key !== "type" && key !== "text");
  if (unknown !== undefined) throw createUnknownKeyError(unknown, at, ["type", "text"]);
  if (part.type !== "text") {
    throw new InvalidOptionError({
      field: `${at}.type`,
      value: part.type,
      rule: 'must be "text"',
      remedy,
    });
  }
  if (typeof part.text === "string" && part.text !== "") return Object.freeze({ ...part });
  const rule = "must be text that is not empty";
  throw new InvalidOptionError({ field: `${at}.text`, value: part.text, rule, remedy });
}
