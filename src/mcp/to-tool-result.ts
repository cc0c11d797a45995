import type { CallToolResult } from "@modelcontextprotocol/client";
import { ToolResult } from "../tools/tool-result.ts";
import { cutText } from "./clean-text.ts";
import { MCP_LIMITS } from "./mcp-limits.ts";

/**
 * Converts a server's result. The model reads the text, or the structured content as JSON if there is no text; the
 * program reads the structured content as the value.
 */
export function toToolResult(result: CallToolResult): ToolResult<unknown> {
  const { content = [], structuredContent, isError = false } = result;
  const json = structuredContent === undefined ? null : JSON.stringify(structuredContent);
  const isTooLarge = json !== null && json.length > MCP_LIMITS.valueChars;
  const value = structuredContent === undefined || isTooLarge ? null : structuredContent;
  const text = content.map(describeContent).join("\n\n");
  const note = isTooLarge
    ? `\n\n[The structured result of ${json.length} characters was omitted]`
    : "";
  const message = cutText(text === "" ? (json ?? "") : text, MCP_LIMITS.resultChars) + note;
  if (isError) return ToolResult.error(message === "" ? "The tool failed." : message, value);
  return { success: true, message, value, excludeValueFromContext: true };
}

type Content = NonNullable<CallToolResult["content"]>[number];

/** Converts a part of a result to text. Media are described by their type and size. */
function describeContent(content: Content): string {
  if (content.type === "text") return content.text;
  if (content.type === "image" || content.type === "audio") {
    return describeData(content.type, content.mimeType, content.data);
  }
  if (content.type === "resource_link") {
    return `[A link to the resource ${content.uri}: ${content.name}]`;
  }
  const { resource } = content;
  if ("text" in resource) return `[The resource ${resource.uri}]\n${resource.text}`;
  return describeData(`resource ${resource.uri}`, resource.mimeType, resource.blob);
}

function describeData(what: string, mimeType: string | undefined, base64: string): string {
  const bytes = Math.floor((base64.replace(/={1,2}$/, "").length * 3) / 4);
  const article = /^[aeiou]/.test(what) ? "An" : "A";
  return `[${article} ${what} of ${bytes} bytes${mimeType ? `, ${mimeType}` : ""}, not shown]`;
}
