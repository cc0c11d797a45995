import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptRenderError, PromptValidationError, WinkError } from "../base/errors.ts";
import type { Filesystem } from "../files/filesystem/filesystem.ts";
import { Session } from "../session/session.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { Prompt } from "./prompt.ts";
import { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";

const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Write about $topic.",
  params: z.object({ topic: z.string() }),
});
const template = new PromptTemplate({ ns: "demo", key: "write", sections: [task] });

const createPrompt = (...sections: readonly Section[]) =>
  new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections }));

describe("Prompt", () => {
  test("has its template's name", () => {
    expect(new Prompt(template).name).toBe("demo:write");
    expect(new Prompt(template).template).toBe(template);
  });

  test.each([[undefined], [null], [{}], ["write"], [task]])("rejects %j as a template", (given) => {
    const make = () => new Prompt(given as never);
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow("Prompt(template) must be a PromptTemplate");
  });

  test("renders bound params", () => {
    expect(new Prompt(template).bind({ topic: "owls" }).render()).toMatchObject({
      promptName: "demo:write",
      text: "## 1. Task (task)\n\nWrite about owls.",
    });
  });

  test("renders without bind() if no param is required", () => {
    const intro = new MarkdownSection({ key: "intro", title: "Intro", template: "Be brief." });
    expect(createPrompt(intro).render().text).toBe("## 1. Intro (intro)\n\nBe brief.");
    expect(() => new Prompt(template).render()).toThrow(PromptValidationError);
  });

  test("renders the same text every time", () => {
    const bound = new Prompt(template).bind({ topic: "owls" });
    expect(bound.render()).toEqual(bound.render());
  });
});

describe("Prompt.render() of fixed texts", () => {
  const text = { key: "task", title: "Task", template: "Write." };
  const fixed = new MarkdownSection(text);

  test("renders a prompt of fixed texts once, for every session", () => {
    const child = new MarkdownSection({ ...text, key: "child" });
    const prompt = createPrompt(new MarkdownSection({ ...text, key: "parent", children: [child] }));
    const rendered = prompt.render({ session: new Session() });
    expect(prompt.render({ session: new Session() })).toBe(rendered);
    expect(prompt.render({ prepared: false })).toBe(rendered);
  });

  test("renders a copy again, with its attachments", () => {
    const prompt = createPrompt(fixed);
    prompt.render();
    const copy = prompt.attach({ imageUrl: "https://example.com/a.png" });
    expect(copy.render().attachments).toHaveLength(1);
    expect(prompt.render().attachments).toHaveLength(0);
  });

  class Own extends MarkdownSection {}
  const changing: readonly (readonly [string, Section])[] = [
    ["has a predicate", new MarkdownSection({ ...text, enabled: () => true })],
    ["can be summarized", new MarkdownSection({ ...text, summary: "Writing." })],
    ["is of another class", new Own(text)],
  ];
  test.each(changing)("renders a prompt again if a section %s", (_, section) => {
    const parent = new MarkdownSection({ ...text, key: "parent", children: [section] });
    for (const prompt of [createPrompt(section), createPrompt(parent)]) {
      expect(prompt.render()).not.toBe(prompt.render());
    }
  });

  test("renders a prompt again if a section has params, also if none are bound", () => {
    const params = z.object({ a: z.string().default("-") });
    const prompt = createPrompt(new MarkdownSection({ ...text, template: "$a", params }));
    expect(prompt.render()).not.toBe(prompt.render());
  });
});

describe("Prompt.bind()", () => {
  test("returns a new prompt and does not change the old one", () => {
    const prompt = new Prompt(template);
    const bound = prompt.bind({ topic: "owls" });
    expect(bound).not.toBe(prompt);
    expect(() => prompt.render()).toThrow(PromptValidationError);
  });

  test("replaces earlier params", () => {
    const two = createPrompt(
      new MarkdownSection({
        key: "task",
        title: "Task",
        template: "$a $b",
        params: z.object({ a: z.string().default("-"), b: z.string().default("-") }),
      }),
    );
    const bound = two.bind({ a: "1", b: "2" });
    const rebound = bound.bind({ b: "3" });
    expect(rebound.render().text).toContain("\n\n- 3");
    expect(bound.render().text).toContain("\n\n1 2");
  });
});

test("isBound is true after bind(), also in copies", () => {
  const prompt = new Prompt(template);
  expect(prompt.isBound).toBe(false);
  expect(prompt.bind({ topic: "owls" }).attach({ path: "owl.jpg" }).isBound).toBe(true);
});

test("attach() keeps bound params", () => {
  const prompt = new Prompt(template).bind({ topic: "owls" }).attach({ path: "owl.jpg" });
  expect(prompt.render()).toMatchObject({
    text: "## 1. Task (task)\n\nWrite about owls.",
    attachments: [{ path: "owl.jpg" }],
  });
});

describe("Prompt.render()", () => {
  test("omits the text of sections that are not prepared, and keeps their tools", () => {
    class LoadedSection extends MarkdownSection {
      override async prepare(): Promise<void> {}
      override render(): string {
        throw new Error("It is not loaded.");
      }
    }
    const handler = () => ToolResult.ok(null);
    const tools = [new Tool({ name: "look", description: "Looks.", params: null, handler })];
    const loaded = new LoadedSection({ key: "loaded", title: "Loaded", template: "Text.", tools });
    const intro = new MarkdownSection({ key: "intro", title: "Intro", template: "Be brief." });
    const prompt = createPrompt(intro, loaded);
    expect(() => prompt.render()).toThrow("It is not loaded.");
    const { text, tools: offered } = prompt.render({ prepared: false });
    expect(text).toBe("## 1. Intro (intro)\n\nBe brief.");
    expect(offered).toEqual(tools);
  });

  const session = new Session();
  const seen: Session[] = [];
  const asking = createPrompt(
    new MarkdownSection({
      key: "a",
      title: "A",
      template: "A.",
      enabled: (_, context) => seen.push(context.session) > 0,
    }),
    new MarkdownSection({
      key: "b",
      title: "B",
      template: "B.",
      enabled: (_, context) => seen.push(context.session) > 0,
    }),
  );

  test("passes its session to sections", () => {
    seen.length = 0;
    asking.render({ session });
    expect(seen).toEqual([session, session]);
  });

  test("passes one empty session to all sections if none is given", () => {
    seen.length = 0;
    asking.render();
    expect(seen[0]).toBeInstanceOf(Session);
    expect(seen[1]).toBe(seen[0]);
  });

  test("names the section that failed", () => {
    const failing = createPrompt(
      new MarkdownSection({
        key: "a",
        title: "A",
        template: "",
        enabled: () => {
          throw new Error("no");
        },
      }),
    );
    expect(() => failing.render()).toThrow(PromptRenderError);
  });
});

class Files extends Section {
  readonly filesystem: Filesystem;

  constructor(key: string, filesystem: object) {
    super({ key, title: "Files" });
    this.filesystem = filesystem as Filesystem;
  }

  override render(): string {
    return "";
  }
}

describe("Prompt.findSection()", () => {
  const files = new Files("files", { readBytes() {} });
  const parent = new MarkdownSection({ key: "p", title: "P", template: "", children: [files] });
  const prompt = createPrompt(task, parent, new Files("more", {}));

  test("returns the first section of a class, depth first", () => {
    expect(prompt.findSection(Files)).toBe(files);
    expect(prompt.findSection(MarkdownSection)).toBe(task);
    expect(prompt.findSection(Section)).toBe(task);
  });

  test("returns null if there is none", () => {
    expect(createPrompt(task).findSection(Files)).toBeNull();
  });
});

describe("Prompt.filesystem()", () => {
  test("returns the files of the first workspace, at any depth", () => {
    const first = { readBytes() {} };
    const parent = new MarkdownSection({
      key: "parent",
      title: "P",
      template: "",
      children: [new Files("first", first)],
    });
    const prompt = createPrompt(task, parent, new Files("second", { readBytes() {} }));
    expect(prompt.filesystem()).toBe(first);
  });

  test("returns null without a workspace", () => {
    expect(createPrompt(task).filesystem()).toBeNull();
  });
});

describe("Prompt.cleanup()", () => {
  class CleanedSection extends Section {
    readonly #clean: () => unknown;

    constructor(key: string, clean: () => unknown, children: readonly Section[] = []) {
      super({ key, title: "Held", children });
      this.#clean = clean;
    }

    override render(): string {
      return "";
    }

    // Not async: a subclass may throw before it returns a promise.
    override cleanup(): Promise<unknown> {
      return Promise.resolve(this.#clean());
    }
  }

  test("cleans up every section, including children", async () => {
    const cleaned: string[] = [];
    const createCleanedSection = (key: string, children: readonly Section[] = []) =>
      new CleanedSection(key, () => cleaned.push(key), children);
    await createPrompt(
      createCleanedSection("a", [createCleanedSection("b")]),
      createCleanedSection("c"),
    ).cleanup();
    expect(cleaned).toEqual(["a", "b", "c"]);
  });

  test("does nothing for sections without resources", async () => {
    expect(await createPrompt(task).cleanup()).toBeUndefined();
  });

  test("continues after a failure and reports it", async () => {
    const cleaned: string[] = [];
    const failure = new Error("disk full");
    const prompt = createPrompt(
      new CleanedSection("a", () => {
        throw failure;
      }),
      new CleanedSection("b", () => cleaned.push("b")),
    );
    const error = await prompt.cleanup().catch((thrown: unknown) => thrown);
    expect(cleaned).toEqual(["b"]);
    expect(error).toBeInstanceOf(WinkError);
    expect(error).toMatchObject({
      message: 'Section "a" failed to clean up: disk full',
      cause: { cause: failure },
    });
  });

  test("collects every failure, thrown or rejected", async () => {
    const prompt = createPrompt(
      new CleanedSection("a", () => Promise.reject(new Error("first"))),
      new CleanedSection("b", () => {
        throw "second";
      }),
    );
    const error = await prompt.cleanup().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message: 'Section "a" failed to clean up: first; Section "b" failed to clean up: "second"',
      cause: { errors: [{ name: "WinkError" }, { name: "WinkError", cause: "second" }] },
    });
  });

  test("is what suspend() does for sections that do not override it", async () => {
    const ended: string[] = [];
    class KeptSection extends CleanedSection {
      override async suspend(): Promise<void> {
        ended.push("b suspended");
      }
    }
    const sections = [
      new CleanedSection("a", () => ended.push("a cleaned up")),
      new KeptSection("b", () => ended.push("b cleaned up")),
    ];
    await createPrompt(...sections).suspend();
    expect(ended).toEqual(["a cleaned up", "b suspended"]);
  });

  test("may be called again", async () => {
    let times = 0;
    const prompt = createPrompt(new CleanedSection("a", () => times++));
    await prompt.cleanup();
    await prompt.cleanup();
    expect(times).toBe(2);
  });
});
