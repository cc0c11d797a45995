import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import { ResourceRegistry } from "../tools/resources.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";

const task = new MarkdownSection({ key: "task", title: "Task", template: "Write." });
const options = { ns: "demo", key: "write", sections: [task] };

/** Options as a program without types might give them. */
const made = (given: object) => new PromptTemplate({ ...options, ...given } as never);

describe("a template", () => {
  test("is called by its namespace and key, unless it has a name", () => {
    expect(new PromptTemplate(options)).toMatchObject({
      ns: "demo",
      key: "write",
      name: "demo:write",
    });
    expect(new PromptTemplate({ ...options, name: "A writer" }).name).toBe("A writer");
  });

  test("is frozen, with sections of its own", () => {
    const sections = [task];
    const template = new PromptTemplate({ ...options, sections });
    sections.pop();
    expect(template.sections).toEqual([task]);
    expect([template, template.sections, template.outline].every(Object.isFrozen)).toBe(true);
  });

  test("answers with text unless it has an output schema", () => {
    expect(new PromptTemplate(options).output).toBeNull();
    const output = z.object({ title: z.string() });
    expect(new PromptTemplate({ ...options, output }).output).toMatchObject({ schema: output });
  });

  test("may have resources", () => {
    const resources = new ResourceRegistry();
    expect(new PromptTemplate({ ...options, resources }).resources).toBe(resources);
    expect(new PromptTemplate(options).resources).toBeNull();
  });

  test("may have no sections", () => {
    expect(new PromptTemplate({ ...options, sections: [] }).outline).toEqual([]);
  });
});

describe("a template is refused", () => {
  test.each([
    ["without a namespace", { ns: undefined }, "PromptTemplate.ns must be 1-64 of"],
    ["with a namespace in capitals", { ns: "Demo Shop" }, 'write it like "demo_shop"'],
    ["without a key", { key: "" }, "PromptTemplate.key must be 1-64 of"],
    ["with a blank name", { name: " " }, "PromptTemplate.name must be one line that is not blank"],
    ["with a name of two lines", { name: "a\nb" }, "PromptTemplate.name must be one line"],
    ["with a name that is no text", { name: 5 }, "PromptTemplate.name must be one line"],
    [
      "without sections",
      { sections: undefined },
      'Template "demo:write" sections must be a list of sections, got undefined',
    ],
    ["with one section outside a list", { sections: task }, "sections must be a list of sections"],
    [
      "with something else among its sections",
      { sections: [task, {}] },
      "must be a list of sections",
    ],
    [
      "with resources that are no registry",
      { resources: new Map() },
      'Template "demo:write" resources must be a ResourceRegistry, got a Map',
    ],
    ["with resources of null", { resources: null }, "resources must be a ResourceRegistry"],
    [
      "with an output that is no schema",
      { output: {} },
      'Template "demo:write" output must be a Standard',
    ],
    [
      "with an output that is neither object nor list",
      { output: z.string() },
      'Template "demo:write" output must have object or array at its root',
    ],
    [
      "with an output that may be one of several objects",
      { output: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) },
      "output must have object or array at its root",
    ],
  ])("%s", (_, given, message) => {
    expect(() => made(given)).toThrow(PromptValidationError);
    expect(() => made(given)).toThrow(message);
  });

  test("without any options", () => {
    expect(() => new PromptTemplate(undefined as never)).toThrow(PromptValidationError);
  });
});
