import { describe, expect, test } from "vitest";
import type { ListedTool } from "./mcp-connection.ts";
import { selectTools, type ToolSelection } from "./select-tools.ts";

const tool = (name: string, more: Partial<ListedTool> = {}): ListedTool => ({
  name,
  inputSchema: { type: "object" },
  ...more,
});
const selection: ToolSelection = { include: null, exclude: [], prefix: "", server: '"s"' };
const select = (
  tools: readonly ListedTool[],
  more: Partial<ToolSelection> = {},
  isFirst = true,
) => {
  const { tools: offered, omitted } = selectTools(tools, { ...selection, ...more }, { isFirst });
  return { names: offered.map(({ name }) => name), offered, omitted };
};

describe("selectTools()", () => {
  test("offers all tools, those in include, or all except those in exclude", () => {
    const all = ["a", "b", "c"].map((name) => tool(name));
    expect(select(all).names).toEqual(["a", "b", "c"]);
    expect(select(all, { include: ["c", "a"] }).names).toEqual(["a", "c"]);
    expect(select(all, { exclude: ["b"] }).names).toEqual(["a", "c"]);
    expect(select(all, { prefix: "x-" }).names).toEqual(["x-a", "x-b", "x-c"]);
  });

  test("omits tools with names that providers do not accept, and names that are listed twice", () => {
    const { names, omitted } = select([tool("a"), tool("b.c"), tool("a"), tool("d".repeat(65))]);
    expect(names).toEqual(["a"]);
    expect(omitted).toEqual([
      { tool: "a", reason: "the server lists its name twice" },
      { tool: "b.c", reason: expect.stringContaining('would be "b.c", but a name must be') },
      { tool: "d".repeat(65), reason: expect.stringContaining("1-64") },
    ]);
  });

  test("omits a tool with an unusable schema", () => {
    const { names, omitted } = select([
      tool("a", { inputSchema: { type: "object", properties: { b: { type: "text" } } } }),
      tool("c"),
    ]);
    expect(names).toEqual(["c"]);
    expect(omitted).toMatchObject([{ tool: "a" }]);
  });

  test("refuses an include that the server does not list, at first", () => {
    const all = [tool("read_file")];
    expect(() => select(all, { include: ["read_fil"] })).toThrow(
      'The MCP server "s" has no tool "read_fil", which include names. Did you mean "read_file"?',
    );
    expect(() => select(all, { include: ["other"] })).toThrow('Its tools are "read_file".');
    expect(() => select([], { include: ["other"] })).toThrow("It has no tools.");
    expect(select(all, { include: ["other"] }, false).omitted).toEqual([
      { tool: "other", reason: "the server no longer lists it" },
    ]);
  });

  test("refuses an include that cannot be offered, at first", () => {
    const all = [tool("a.b")];
    expect(() => select(all, { include: ["a.b"] })).toThrow(
      /^The tool "a\.b" of the MCP server "s" cannot be offered: .* Remove it from include\.$/,
    );
    expect(select(all, { include: ["a.b"] }, false).names).toEqual([]);
  });

  test("uses the title as the description, or the name, if there is none", () => {
    const all = [
      tool("a", { description: "\u0007 ", title: "Title" }),
      tool("b", { annotations: { title: "Hint" } }),
      tool("c"),
      tool("d", { description: "x".repeat(3_000) }),
    ];
    const texts = select(all).offered.map(({ description }) => description);
    expect(texts.slice(0, 3)).toEqual(["Title", "Hint", "The tool c."]);
    expect(texts[3]).toMatch(/^x{2048}… \[952 more characters omitted\]$/);
  });
});
