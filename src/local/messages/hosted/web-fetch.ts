import { readNumber, readRecord, readStrings } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { truncateBytes } from "../../truncate-bytes.ts";
import type { Block } from "../check/content.ts";
import { BYTES_PER_TOKEN, type MessageState } from "../message-state.ts";
import { createNoPagesFault } from "./web-search.ts";

/** Opens one of the server's pages, within the tool's domains, `max_uses` and `max_content_tokens`. */
export function runWebFetch(url: string, tool: WireItem, state: MessageState): readonly Block[] {
  const { services } = state;
  const { web } = services.tools;
  if (!web) throw createNoPagesFault();
  const id = services.ids.next("srvtoolu_");
  const use = { type: "server_tool_use", id, name: "web_fetch", input: { url } };
  const problem = findProblem(url, tool, state);
  const page = problem === null ? web.open(url) : null;
  const content = page
    ? {
        type: "web_fetch_result",
        url: page.url,
        retrieved_at: null,
        content: toDocument(page, tool),
      }
    : { type: "web_fetch_tool_result_error", error_code: problem ?? "url_not_accessible" };
  state.fetches += 1;
  return [use, { type: "web_fetch_tool_result", tool_use_id: id, content }];
}

function findProblem(url: string, tool: WireItem, { fetches }: MessageState): string | null {
  if (fetches >= (readNumber(tool, "max_uses") ?? Number.POSITIVE_INFINITY))
    return "max_uses_exceeded";
  if (url.length > MAX_URL_LENGTH) return "url_too_long";
  if (!URL.canParse(url)) return "invalid_tool_input";
  const { hostname } = new URL(url);
  const isIn = (domain: string) => hostname === domain || hostname.endsWith(`.${domain}`);
  const allowed = readStrings(tool, "allowed_domains");
  const isAllowed = allowed.length === 0 || allowed.some(isIn);
  return isAllowed && !readStrings(tool, "blocked_domains").some(isIn) ? null : "url_not_allowed";
}

/** Anthropic's limit. */
const MAX_URL_LENGTH = 250;

function toDocument(
  { title, text }: { readonly title: string; readonly text: string },
  tool: WireItem,
): WireItem {
  const tokens = readNumber(tool, "max_content_tokens") ?? Number.POSITIVE_INFINITY;
  const data = truncateBytes(text, tokens * BYTES_PER_TOKEN);
  const source = { type: "text", media_type: "text/plain", data };
  const isCited = readRecord(tool, "citations")["enabled"] === true;
  return { type: "document", source, title, citations: isCited ? { enabled: true } : null };
}
