import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptRenderError, PromptValidationError, WinkError } from "../base/errors.ts";
import type { Filesystem } from "../files/filesystem/filesystem.ts";
import { Session } from "../session/session.ts";
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

const promptOf = (...sections: readonly Section[]) =>
  new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections }));

describe("a prompt", () => {
  test("has its template's name", () => {
    expect(new Prompt(template).name).toBe("demo:write");
    expect(new Prompt(template).template).toBe(template);
  });

  test.each([[undefined], [null], [{}], ["write"], [task]])("is not made of %j", (given) => {
    const make = () => new Prompt(given as never);
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow("Prompt(template) must be a PromptTemplate");
  });

  test("renders what was bound", () => {
    expect(new Prompt(template).bind({ topic: "owls" }).render()).toMatchObject({
      promptName: "demo:write",
      text: "## 1. Task (task)\n\nWrite about owls.",
    });
  });

  test("that nothing was bound to renders if nothing is missing", () => {
    const intro = new MarkdownSection({ key: "intro", title: "Intro", template: "Be brief." });
    expect(promptOf(intro).render().text).toBe("## 1. Intro (intro)\n\nBe brief.");
    expect(() => new Prompt(template).render()).toThrow(PromptValidationError);
  });

  test("renders the same every time", () => {
    const bound = new Prompt(template).bind({ topic: "owls" });
    expect(bound.render()).toEqual(bound.render());
  });
});

describe("bind", () => {
  test("gives a new prompt and leaves the old one as it was", () => {
    const prompt = new Prompt(template);
    const bound = prompt.bind({ topic: "owls" });
    expect(bound).not.toBe(prompt);
    expect(() => prompt.render()).toThrow(PromptValidationError);
  });

  test("takes the place of what was bound before", () => {
    const two = promptOf(
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

test("attach keeps what was bound", () => {
  const prompt = new Prompt(template).bind({ topic: "owls" }).attach({ path: "owl.jpg" });
  expect(prompt.render()).toMatchObject({
    text: "## 1. Task (task)\n\nWrite about owls.",
    attachments: [{ path: "owl.jpg" }],
  });
});

describe("render", () => {
  const session = new Session();
  const seen: Session[] = [];
  const asking = promptOf(
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

  test("lets sections ask the session it is given", () => {
    seen.length = 0;
    asking.render({ session });
    expect(seen).toEqual([session, session]);
  });

  test("without one lets them ask an empty one, the same for all", () => {
    seen.length = 0;
    asking.render();
    expect(seen[0]).toBeInstanceOf(Session);
    expect(seen[1]).toBe(seen[0]);
  });

  test("says which section failed", () => {
    const failing = promptOf(
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

describe("findSection", () => {
  const files = new Files("files", { readBytes() {} });
  const parent = new MarkdownSection({ key: "p", title: "P", template: "", children: [files] });
  const prompt = promptOf(task, parent, new Files("more", {}));

  test("finds the first of a class, depth first", () => {
    expect(prompt.findSection(Files)).toBe(files);
    expect(prompt.findSection(MarkdownSection)).toBe(task);
    expect(prompt.findSection(Section)).toBe(task);
  });

  test("finds nothing where there is none", () => {
    expect(promptOf(task).findSection(Files)).toBeNull();
  });
});

describe("filesystem", () => {
  test("is that of the first workspace, wherever it stands", () => {
    const first = { readBytes() {} };
    const parent = new MarkdownSection({
      key: "parent",
      title: "P",
      template: "",
      children: [new Files("first", first)],
    });
    const prompt = promptOf(task, parent, new Files("second", { readBytes() {} }));
    expect(prompt.filesystem()).toBe(first);
  });

  test("is null without a workspace", () => {
    expect(promptOf(task).filesystem()).toBeNull();
  });
});

describe("cleanup", () => {
  class Held extends Section {
    readonly #clean: () => unknown;

    constructor(key: string, clean: () => unknown, children: readonly Section[] = []) {
      super({ key, title: "Held", children });
      this.#clean = clean;
    }

    override render(): string {
      return "";
    }

    // Not async: a subclass may throw before it has made a promise.
    override cleanup(): Promise<unknown> {
      return Promise.resolve(this.#clean());
    }
  }

  test("cleans up every section, children too", async () => {
    const cleaned: string[] = [];
    const held = (key: string, children: readonly Section[] = []) =>
      new Held(key, () => cleaned.push(key), children);
    await promptOf(held("a", [held("b")]), held("c")).cleanup();
    expect(cleaned).toEqual(["a", "b", "c"]);
  });

  test("has nothing to do for sections that hold nothing", async () => {
    expect(await promptOf(task).cleanup()).toBeUndefined();
  });

  test("goes on after a failure and tells of it", async () => {
    const cleaned: string[] = [];
    const failure = new Error("disk full");
    const prompt = promptOf(
      new Held("a", () => {
        throw failure;
      }),
      new Held("b", () => cleaned.push("b")),
    );
    const error = await prompt.cleanup().catch((thrown: unknown) => thrown);
    expect(cleaned).toEqual(["b"]);
    expect(error).toBeInstanceOf(WinkError);
    expect(error).toMatchObject({
      message: 'Section "a" failed to clean up: disk full',
      cause: { cause: failure },
    });
  });

  test("gathers every failure, thrown or rejected", async () => {
    const prompt = promptOf(
      new Held("a", () => Promise.reject(new Error("first"))),
      new Held("b", () => {
        throw "second";
      }),
    );
    const error = await prompt.cleanup().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message: 'Section "a" failed to clean up: first; Section "b" failed to clean up: "second"',
      cause: { errors: [{ name: "WinkError" }, { name: "WinkError", cause: "second" }] },
    });
  });

  test("may be asked for again", async () => {
    let times = 0;
    const prompt = promptOf(new Held("a", () => times++));
    await prompt.cleanup();
    await prompt.cleanup();
    expect(times).toBe(2);
  });
});
