import { toStandardJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptRenderError } from "../base/errors.ts";
import { HostedTool } from "../tools/hosted-tool.ts";
import { NativeTool } from "../tools/native-tool.ts";
import { ProviderTool } from "../tools/provider-tool.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { Prompt } from "./prompt.ts";
import { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";

const createTool = (name: string, more: object = {}) =>
  new Tool({
    name,
    description: `Does ${name}.`,
    params: null,
    handler: () => ToolResult.ok(null),
    ...more,
  });
const createHostedTool = (name: string) =>
  new HostedTool({ kind: "web_search", name, description: "Searches.", config: { name } });
const off = { enabled: () => false };

const createSection = (key: string, more: object = {}, template = `Text of ${key}.`) =>
  new MarkdownSection({ key, title: key.toUpperCase(), template, ...more });

const renderSections = (...sections: readonly Section[]) =>
  new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections })).render();

const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

class Custom extends Section {
  readonly #render: () => unknown;

  constructor(render: () => unknown, more: object = {}) {
    super({ key: "custom", title: "Custom", ...more });
    this.#render = render;
  }

  override render(): string {
    return this.#render() as string;
  }
}

const catchError = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe("the rendered text", () => {
  test("has a heading for each section, one level deeper for children", () => {
    const grandchild = createSection("c");
    const child = createSection("b", { children: [grandchild] });
    expect(renderSections(createSection("a", { children: [child] }), createSection("d")).text).toBe(
      [
        "## 1. A (a)",
        "Text of a.",
        "### 1.1. B (a.b)",
        "Text of b.",
        "#### 1.1.1. C (a.b.c)",
        "Text of c.",
        "## 2. D (d)",
        "Text of d.",
      ].join("\n\n"),
    );
  });

  test("keeps each section's number if others are omitted", () => {
    const children = [createSection("x", off), createSection("y")];
    const { text } = renderSections(
      createSection("a", off),
      createSection("b", { children }),
      createSection("c"),
    );
    expect(text.match(/^#+ .*/gm)).toEqual(["## 2. B (b)", "### 2.2. Y (b.y)", "## 3. C (c)"]);
  });

  test("omits a section without text", () => {
    expect(renderSections(createSection("a", {}, ""), createSection("b")).text).toBe(
      "## 2. B (b)\n\nText of b.",
    );
    expect(renderSections(createSection("a", {}, "")).text).toBe("");
  });

  test("keeps the heading of a section that has only children", () => {
    expect(renderSections(createSection("a", { children: [createSection("b")] }, "")).text).toBe(
      "## 1. A (a)\n\n### 1.1. B (a.b)\n\nText of b.",
    );
  });

  test("omits the heading of a section without text whose children are omitted", () => {
    expect(
      renderSections(createSection("a", { children: [createSection("b", off)] }, "")).text,
    ).toBe("");
  });

  test("passes a section its depth and number", () => {
    class Placed extends Section {
      override render(_params: never, depth: number, number: string): string {
        return `depth ${depth}, number ${number}`;
      }
    }
    const placed = new Placed({ key: "p", title: "P" });
    const { text } = renderSections(createSection("a"), createSection("b", { children: [placed] }));
    expect(text).toMatch(/depth 1, number 2\.1$/);
  });

  test("is empty without sections", () => {
    expect(renderSections()).toMatchObject({
      text: "",
      tools: [],
      hostedTools: [],
      nativeTools: [],
    });
  });

  test("shows the examples of a section's tools below it", () => {
    const examples = [{ description: "Once.", input: {}, output: "done" }];
    const { text } = renderSections(
      createSection("a", { tools: [createTool("look", { examples })] }, ""),
    );
    expect(text).toMatch(
      /^## 1\. A \(a\)\n\nTools:\n\n- look: Does look\.\n {2}- look examples:\n/,
    );
  });
});

describe("a disabled section", () => {
  const child = createSection("child", {
    tools: [createTool("of_child")],
    hostedTools: [createHostedTool("search")],
  });
  const parent = createSection("parent", {
    ...off,
    tools: [createTool("of_parent")],
    children: [child],
  });

  test("adds no text, tools or hosted tools, and neither do its children", () => {
    const native = new NativeTool({
      name: "native",
      description: "Native.",
      params: z.object({}),
      result: z.object({}),
    });
    const { text, tools, hostedTools, nativeTools } = renderSections(
      parent,
      createSection("a", { tools: [native], ...off }),
      createSection("b"),
    );
    expect(text).toBe("## 3. B (b)\n\nText of b.");
    expect([tools, hostedTools, nativeTools]).toEqual([[], [], []]);
  });

  test("does not call its children's predicates", () => {
    let asked = 0;
    const curious = createSection("child", { enabled: () => asked++ === 0 });
    renderSections(createSection("parent", { ...off, children: [curious] }));
    expect(asked).toBe(0);
  });

  test("does not affect a section whose key has the same prefix", () => {
    const { text } = renderSections(
      createSection("a", { ...off, children: [createSection("b")] }),
      createSection("a.c"),
    );
    expect(text).toBe("## 2. A.C (a.c)\n\nText of a.c.");
  });

  test("is not rendered", () => {
    expect(renderSections(new Custom(() => throwNow(), off)).text).toBe("");
  });
});

describe("rendered tools", () => {
  test("are in reading order, depth first", () => {
    const inner = createSection("b", {
      tools: [createTool("two")],
      hostedTools: [createHostedTool("search_two")],
    });
    const outer = createSection("a", {
      tools: [createTool("one"), createTool("one_more")],
      hostedTools: [createHostedTool("search_one")],
      children: [inner],
    });
    const last = createSection("c", {
      tools: [createTool("three")],
      hostedTools: [createHostedTool("search_three")],
    });
    const { tools, hostedTools } = renderSections(outer, last);
    expect(names(tools)).toEqual(["one", "one_more", "two", "three"]);
    expect(names(hostedTools)).toEqual(["search_one", "search_two", "search_three"]);
  });

  test("include provider-run tools in hostedTools, however they were declared", () => {
    const native = new NativeTool({
      name: "native",
      description: "Native.",
      params: z.object({ q: z.string() }),
      result: z.object({}),
      kind: "file_search",
      config: { stores: ["a"] },
    });
    const handleProviderOutput = () => ToolResult.ok({});
    const provider = new ProviderTool({
      provider: "openai",
      kind: "code_interpreter",
      name: "python",
      description: "Runs Python.",
      params: null,
      config: { memory: "1g" },
      handleProviderOutput,
    });
    const { tools, hostedTools, nativeTools } = renderSections(
      createSection("a", {
        tools: [native, createTool("look"), provider],
        hostedTools: [createHostedTool("search")],
      }),
    );
    expect(tools).toEqual([native, expect.objectContaining({ name: "look" }), provider]);
    expect(hostedTools).toMatchObject([
      { name: "search", kind: "web_search", provider: null },
      { name: "native", kind: "file_search", config: { stores: ["a"] }, provider: null },
      { name: "python", kind: "code_interpreter", provider: "openai", handleProviderOutput },
    ]);
    expect(hostedTools.every((each) => each instanceof HostedTool)).toBe(true);
    expect(nativeTools).toEqual([
      { type: "built_in", name: "search", kind: "web_search", config: { name: "search" } },
      { type: "built_in", name: "native", kind: "file_search", config: { stores: ["a"] } },
      { type: "built_in", name: "python", kind: "code_interpreter", config: { memory: "1g" } },
    ]);
  });

  test("may be extended by a subclass", () => {
    class More extends MarkdownSection {
      override tools() {
        return [...super.tools(), createTool("added")];
      }
      override hostedTools() {
        return [...super.hostedTools(), createHostedTool("search")];
      }
    }
    const more = new More({ key: "m", title: "M", template: "", tools: [createTool("own")] });
    expect(names(renderSections(more).tools)).toEqual(["own", "added"]);
    expect(names(renderSections(more).hostedTools)).toEqual(["search"]);
  });
});

describe("rendering fails and names the section's path", () => {
  const cause = new Error("broken");
  const throwError = () => {
    throw cause;
  };

  test.each([
    [
      "when a predicate throws",
      createSection("a", { enabled: throwError }),
      'Section "p.a": its enabled() threw: broken',
    ],
    [
      "when a section's render throws",
      new Custom(throwError, { key: "a" }),
      'Section "p.a": its render() threw: broken',
    ],
    [
      "when a section's tools throw",
      createBrokenSection("tools", cause),
      'Section "p.a": its tools() threw: broken',
    ],
    [
      "when a section's hosted tools throw",
      createBrokenSection("hostedTools", cause),
      'Section "p.a": its hostedTools() threw: broken',
    ],
  ])("%s", (_, child, message) => {
    const parent = createSection("p", { children: [child] });
    const error = catchError(() => renderSections(parent));
    expect(error).toBeInstanceOf(PromptRenderError);
    expect(error).toMatchObject({ message, sectionPath: "p.a", cause });
  });

  test.each([
    ["a promise", async () => true, "a Promise"],
    ["nothing", () => undefined, "undefined"],
    ["a number", () => 1, "1"],
  ])("when a predicate returns %s", (_, enabled, shown) => {
    expect(() => renderSections(createSection("a", { enabled }))).toThrow(
      `Section "a": its enabled() must return true or false synchronously, got ${shown}`,
    );
  });

  test.each([
    ["nothing", () => undefined, "undefined"],
    ["a promise", async () => "text", "a Promise"],
    ["a number", () => 5, "5"],
  ])("when a section's render returns %s", (_, render, shown) => {
    expect(() => renderSections(new Custom(render))).toThrow(
      `Section "custom": its render() must return a string, got ${shown}`,
    );
  });

  test("when an example cannot be rendered", () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const examples = [{ description: "Round.", input: circle, output: null }];
    const broken = createSection("a", { tools: [createTool("look", { examples })] });
    const error = catchError(() => renderSections(broken));
    expect(error).toBeInstanceOf(PromptRenderError);
    expect(error).toMatchObject({
      message: expect.stringContaining("the examples of its tools could not be rendered"),
    });
  });
});

describe("a rendered prompt", () => {
  test("is frozen", () => {
    const prompt = renderSections(
      createSection("a", { hostedTools: [createHostedTool("search")] }),
    );
    const { tools, hostedTools, nativeTools, attachments } = prompt;
    const parts = [prompt, tools, hostedTools, nativeTools, ...nativeTools, attachments];
    expect(parts.every(Object.isFrozen)).toBe(true);
  });

  test("has no output schema for text", () => {
    expect(renderSections(createSection("a"))).toMatchObject({ output: null, outputSchema: null });
  });

  test("has the output contract for structured output", () => {
    const output = z.object({ sum: z.number() });
    const template = new PromptTemplate({
      ns: "demo",
      key: "k",
      sections: [createSection("a")],
      output,
    });
    const { outputSchema, output: contract } = new Prompt(template).render();
    expect(outputSchema).toMatchObject({ properties: { sum: { type: "number" } } });
    expect(contract).toMatchObject({ schema: output, shape: "object", jsonSchema: outputSchema });
    expect(outputSchema).toSatisfy(Object.isFrozen);
  });

  test("does not change the caller's schema, even if it is plain data", () => {
    const output = toStandardJsonSchema(v.object({ sum: v.number() }));
    const template = new PromptTemplate({
      ns: "demo",
      key: "k",
      sections: [createSection("a")],
      output,
    });
    new Prompt(template).render();
    expect(output).not.toSatisfy(Object.isFrozen);
    expect(output["~standard"]).not.toSatisfy(Object.isFrozen);
  });
});

function throwNow(): never {
  throw new Error("it was rendered");
}

/** Returns a section whose tools throw after its template is created. */
function createBrokenSection(part: "tools" | "hostedTools", error: Error): Section {
  let asked = 0;
  class Broken extends MarkdownSection {
    override tools() {
      if (part === "tools" && asked++ > 0) throw error;
      return super.tools();
    }
    override hostedTools() {
      if (part === "hostedTools" && asked++ > 0) throw error;
      return super.hostedTools();
    }
  }
  return new Broken({ key: "a", title: "A", template: "" });
}
