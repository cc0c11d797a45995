import { isPlainObject } from "../../base/freeze.ts";
import { readLastText } from "../turn/read-last-text.ts";
import type { MessageRequest } from "./check/request.ts";
import { toModelItems } from "./model-items.ts";

/**
 * Returns the title for a title request, or `null` for all other requests. The Claude Agent SDK requests a
 * title in addition to the conversation, unless it is configured not to. The title is the first words of the
 * conversation. The model is not called, so that scripts need no step for it.
 */
export function findRequestedTitle({ format, tools, messages }: MessageRequest): string | null {
  const { properties } = Object(format?.["schema"]);
  const isTitle = isPlainObject(properties) && Object.keys(properties).join() === "title";
  if (!isTitle || tools.length > 0 || messages.length > 1) return null;
  const session = SESSION.exec(readLastText(toModelItems(messages)))?.[1];
  if (session === undefined) return null;
  const words = session.split(/\s+/).filter((word) => word !== "");
  return words.slice(0, MAX_WORDS).join(" ") || "Untitled";
}

const SESSION = /^<session>\n([\s\S]*?)\n?<\/session>/;
const MAX_WORDS = 5;
