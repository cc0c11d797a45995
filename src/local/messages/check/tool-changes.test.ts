import { describe, expect, test } from "vitest";
import { clientTool, plain } from "../../../../tests/support/local/messages-fixture.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { checkMessageRequest } from "./request.ts";

const look = clientTool("look");
const listen = clientTool("listen");
const reference = { type: "tool_reference", name: "look" };
const add = (tool: WireItem) => ({ type: "tool_addition", tool });
const remove = (tool: WireItem) => ({ type: "tool_removal", tool });

/** Validates a request whose last message changes the tools. */
function check(...content: readonly WireItem[]) {
  const messages = [...plain.messages, { role: "system", content }];
  return checkMessageRequest({ ...plain, tools: [look], messages });
}

describe("Tool changes between messages", () => {
  test("add, replace, remove and return tools, in their order", () => {
    const definition = { type: "tool_definition", definition: listen };
    expect(check(add(definition)).tools).toEqual([look, listen]);
    const better = { ...look, description: "Looks better." };
    const replaced = check(add({ type: "tool_definition", definition: better }));
    expect(replaced.tools).toEqual([better]);
    expect(check(remove(reference)).tools).toEqual([]);
    expect(check(remove(reference), add(reference)).tools).toEqual([look]);
  });

  test("are not part of what the model reads", () => {
    const { messages } = check(remove(reference), { type: "text", text: "No looking." });
    const told = "<system-reminder>\nNo looking.\n</system-reminder>";
    expect(messages).toMatchObject([{ content: [{ text: "Hi." }, { text: told }] }]);
  });

  test("must name a known tool, by a reference or a definition", () => {
    const unknown = { type: "tool_reference", name: "smell" };
    expect(() => check(remove(unknown))).toThrow(
      "messages.1.content.0.tool: Tool 'smell' is not defined at this position of the conversation.",
    );
    expect(() => check(add({ type: "mcp_toolset_reference", server_name: "a" }))).toThrow(
      "messages.1.content.0.tool: Not supported by the local provider.",
    );
    expect(() => check(add({ type: "tool_definition", definition: { name: "a" } }))).toThrow(
      "messages.1.content.0.tool.definition.custom.input_schema: Field required",
    );
  });
});
