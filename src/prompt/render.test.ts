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

const tool = (name: string, more: object = {}) =>
  new Tool({
    name,
    description: `Does ${name}.`,
    params: null,
    handler: () => ToolResult.ok(null),
    ...more,
  });
const hosted = (name: string) =>
  new HostedTool({ kind: "web_search", name, description: "Searches.", config: { name } });
const off = { enabled: () => false };

const section = (key: string, more: object = {}, template = `Text of ${key}.`) =>
  new MarkdownSection({ key, title: key.toUpperCase(), template, ...more });

const rendered = (...sections: readonly Section[]) =>
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

const failure = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe("the text", () => {
  test("has a heading for each section, deeper for its children", () => {
    const grandchild = section("c");
    const child = section("b", { children: [grandchild] });
    expect(rendered(section("a", { children: [child] }), section("d")).text).toBe(
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

  test("keeps each section's number when others are left out", () => {
    const children = [section("x", off), section("y")];
    const { text } = rendered(section("a", off), section("b", { children }), section("c"));
    expect(text.match(/^#+ .*/gm)).toEqual(["## 2. B (b)", "### 2.2. Y (b.y)", "## 3. C (c)"]);
  });

  test("has nothing of a section that says nothing", () => {
    expect(rendered(section("a", {}, ""), section("b")).text).toBe("## 2. B (b)\n\nText of b.");
    expect(rendered(section("a", {}, "")).text).toBe("");
  });

  test("has the heading of a section that only has children", () => {
    expect(rendered(section("a", { children: [section("b")] }, "")).text).toBe(
      "## 1. A (a)\n\n### 1.1. B (a.b)\n\nText of b.",
    );
  });

  test("has no heading of a section that says nothing and whose children are left out", () => {
    expect(rendered(section("a", { children: [section("b", off)] }, "")).text).toBe("");
  });

  test("tells a section its depth and its number", () => {
    class Placed extends Section {
      override render(_params: never, depth: number, number: string): string {
        return `depth ${depth}, number ${number}`;
      }
    }
    const placed = new Placed({ key: "p", title: "P" });
    const { text } = rendered(section("a"), section("b", { children: [placed] }));
    expect(text).toMatch(/depth 1, number 2\.1$/);
  });

  test("of no sections is empty", () => {
    expect(rendered()).toMatchObject({ text: "", tools: [], hostedTools: [], nativeTools: [] });
  });

  test("shows the examples of a section's tools below it", () => {
    const examples = [{ description: "Once.", input: {}, output: "done" }];
    const { text } = rendered(section("a", { tools: [tool("look", { examples })] }, ""));
    expect(text).toMatch(
      /^## 1\. A \(a\)\n\nTools:\n\n- look: Does look\.\n {2}- look examples:\n/,
    );
  });
});

describe("a section that is disabled", () => {
  const child = section("child", { tools: [tool("of_child")], hostedTools: [hosted("search")] });
  const parent = section("parent", { ...off, tools: [tool("of_parent")], children: [child] });

  test("contributes no text, no tools and no hosted tools, nor do its children", () => {
    const native = new NativeTool({
      name: "native",
      description: "Native.",
      params: z.object({}),
      result: z.object({}),
    });
    const { text, tools, hostedTools, nativeTools } = rendered(
      parent,
      section("a", { tools: [native], ...off }),
      section("b"),
    );
    expect(text).toBe("## 3. B (b)\n\nText of b.");
    expect([tools, hostedTools, nativeTools]).toEqual([[], [], []]);
  });

  test("does not let its children's predicates be asked", () => {
    let asked = 0;
    const curious = section("child", { enabled: () => asked++ === 0 });
    rendered(section("parent", { ...off, children: [curious] }));
    expect(asked).toBe(0);
  });

  test("leaves alone a section whose key merely starts like its own", () => {
    const { text } = rendered(section("a", { ...off, children: [section("b")] }), section("a.c"));
    expect(text).toBe("## 2. A.C (a.c)\n\nText of a.c.");
  });

  test("is not rendered", () => {
    expect(rendered(new Custom(() => failingNow(), off)).text).toBe("");
  });
});

describe("tools", () => {
  test("come depth first, in reading order", () => {
    const inner = section("b", { tools: [tool("two")], hostedTools: [hosted("search_two")] });
    const outer = section("a", {
      tools: [tool("one"), tool("one_more")],
      hostedTools: [hosted("search_one")],
      children: [inner],
    });
    const last = section("c", { tools: [tool("three")], hostedTools: [hosted("search_three")] });
    const { tools, hostedTools } = rendered(outer, last);
    expect(names(tools)).toEqual(["one", "one_more", "two", "three"]);
    expect(names(hostedTools)).toEqual(["search_one", "search_two", "search_three"]);
  });

  test("that a provider runs are among the hosted ones too, however they were declared", () => {
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
    const { tools, hostedTools, nativeTools } = rendered(
      section("a", { tools: [native, tool("look"), provider], hostedTools: [hosted("search")] }),
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

  test("may be added to by a subclass", () => {
    class More extends MarkdownSection {
      override tools() {
        return [...super.tools(), tool("added")];
      }
      override hostedTools() {
        return [...super.hostedTools(), hosted("search")];
      }
    }
    const more = new More({ key: "m", title: "M", template: "", tools: [tool("own")] });
    expect(names(rendered(more).tools)).toEqual(["own", "added"]);
    expect(names(rendered(more).hostedTools)).toEqual(["search"]);
  });
});

describe("rendering fails, with the section's path,", () => {
  const cause = new Error("broken");
  const failing = () => {
    throw cause;
  };

  test.each([
    [
      "when a predicate throws",
      section("a", { enabled: failing }),
      'Section "p.a": its enabled predicate failed: broken',
    ],
    [
      "when a section's render throws",
      new Custom(failing, { key: "a" }),
      'Section "p.a": its render failed: broken',
    ],
    [
      "when a section's tools throw",
      brokenLater("tools", cause),
      'Section "p.a": its tools failed: broken',
    ],
    [
      "when a section's hosted tools throw",
      brokenLater("hostedTools", cause),
      'Section "p.a": its hostedTools failed: broken',
    ],
  ])("%s", (_, child, message) => {
    const parent = section("p", { children: [child] });
    const error = failure(() => rendered(parent));
    expect(error).toBeInstanceOf(PromptRenderError);
    expect(error).toMatchObject({ message, sectionPath: "p.a", cause });
  });

  test.each([
    ["a promise", async () => true, "a Promise"],
    ["nothing", () => undefined, "undefined"],
    ["a number", () => 1, "1"],
  ])("when a predicate returns %s", (_, enabled, shown) => {
    expect(() => rendered(section("a", { enabled }))).toThrow(
      `Section "a": its enabled predicate returned ${shown}: it must return true or false at once`,
    );
  });

  test.each([
    ["nothing", () => undefined, "undefined"],
    ["a promise", async () => "text", "a Promise"],
    ["a number", () => 5, "5"],
  ])("when a section's render returns %s", (_, render, shown) => {
    expect(() => rendered(new Custom(render))).toThrow(
      `Section "custom": its render returned ${shown}: it must return text`,
    );
  });

  test("when an example cannot be shown", () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const examples = [{ description: "Round.", input: circle, output: null }];
    const broken = section("a", { tools: [tool("look", { examples })] });
    const error = failure(() => rendered(broken));
    expect(error).toBeInstanceOf(PromptRenderError);
    expect(error).toMatchObject({
      message: expect.stringContaining("the examples of its tools failed"),
    });
  });
});

describe("a rendered prompt", () => {
  test("is frozen", () => {
    const prompt = rendered(section("a", { hostedTools: [hosted("search")] }));
    const { tools, hostedTools, nativeTools, attachments } = prompt;
    const parts = [prompt, tools, hostedTools, nativeTools, ...nativeTools, attachments];
    expect(parts.every(Object.isFrozen)).toBe(true);
  });

  test("has no output schema where text is wanted", () => {
    expect(rendered(section("a"))).toMatchObject({ output: null, outputSchema: null });
  });

  test("says what must be answered, where more than text is wanted", () => {
    const output = z.object({ sum: z.number() });
    const template = new PromptTemplate({ ns: "demo", key: "k", sections: [section("a")], output });
    const { outputSchema, output: contract } = new Prompt(template).render();
    expect(outputSchema).toMatchObject({ properties: { sum: { type: "number" } } });
    expect(contract).toMatchObject({ schema: output, shape: "object", jsonSchema: outputSchema });
    expect(outputSchema).toSatisfy(Object.isFrozen);
  });

  test("leaves the caller's schema as it is, even one that is plain data", () => {
    const output = toStandardJsonSchema(v.object({ sum: v.number() }));
    const template = new PromptTemplate({ ns: "demo", key: "k", sections: [section("a")], output });
    new Prompt(template).render();
    expect(output).not.toSatisfy(Object.isFrozen);
    expect(output["~standard"]).not.toSatisfy(Object.isFrozen);
  });
});

function failingNow(): never {
  throw new Error("it was rendered");
}

/** A section whose tools break once its template is made. */
function brokenLater(part: "tools" | "hostedTools", error: Error): Section {
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
