import { isPlainObject } from "../../base/freeze.ts";
import { lastText } from "../turn/last-text.ts";
import type { MessageRequest } from "./check/request.ts";
import { modelItems } from "./model-items.ts";

/**
 * The title that the Claude Agent SDK asks for beside the conversation, unless it is told to keep
 * quiet: the first words of it. `null` for all other requests. No model is asked, or a script would
 * have to know of it.
 */
export function titleAsked({ format, tools, messages }: MessageRequest): string | null {
  const { properties } = Object(format?.["schema"]);
  const isTitle = isPlainObject(properties) && Object.keys(properties).join() === "title";
  if (!isTitle || tools.length > 0 || messages.length > 1) return null;
  const session = SESSION.exec(lastText(modelItems(messages)))?.[1];
  if (session === undefined) return null;
  const words = session.split(/\s+/).filter((word) => word !== "");
  return words.slice(0, MOST_WORDS).join(" ") || "Untitled";
}

const SESSION = /^<session>\n([\s\S]*?)\n?<\/session>/;
const MOST_WORDS = 5;
