import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import { ResourceRegistry } from "../tools/resources.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";

const task = new MarkdownSection({ key: "task", title: "Task", template: "Write." });
const options = { ns: "demo", key: "write", sections: [task] };

/** Options as an untyped program might pass them. */
const createTemplate = (given: object) => new PromptTemplate({ ...options, ...given } as never);

describe("PromptTemplate", () => {
  test("is named by namespace and key unless it has a name", () => {
    expect(new PromptTemplate(options)).toMatchObject({
      ns: "demo",
      key: "write",
      name: "demo:write",
    });
    expect(new PromptTemplate({ ...options, name: "A writer" }).name).toBe("A writer");
  });

  test("is frozen and copies its sections", () => {
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

  test("accepts resources", () => {
    const resources = new ResourceRegistry();
    expect(new PromptTemplate({ ...options, resources }).resources).toBe(resources);
    expect(new PromptTemplate(options).resources).toBeNull();
  });

  test("accepts no sections", () => {
    expect(new PromptTemplate({ ...options, sections: [] }).outline).toEqual([]);
  });
});

describe("PromptTemplate rejects", () => {
  test.each([
    ["a missing namespace", { ns: undefined }, "PromptTemplate.ns must be 1-64 of"],
    ["a namespace in capitals", { ns: "Demo Shop" }, 'Write it like "demo_shop"'],
    ["a missing key", { key: "" }, "PromptTemplate.key must be 1-64 of"],
    ["a blank name", { name: " " }, "PromptTemplate.name must be one line that is not blank"],
    ["a name of two lines", { name: "a\nb" }, "PromptTemplate.name must be one line"],
    ["a name that is not a string", { name: 5 }, "PromptTemplate.name must be one line"],
    [
      "missing sections",
      { sections: undefined },
      'Template "demo:write" sections must be an array of sections, got undefined',
    ],
    ["a section outside an array", { sections: task }, "sections must be an array of sections"],
    [
      "a value among its sections that is not a section",
      { sections: [task, {}] },
      "must be an array of sections",
    ],
    [
      "resources that are not a registry",
      { resources: new Map() },
      'Template "demo:write" resources must be a ResourceRegistry, got a Map',
    ],
    ["resources of null", { resources: null }, "resources must be a ResourceRegistry"],
    [
      "an output that is not a schema",
      { output: {} },
      'Template "demo:write" output must be a Standard',
    ],
    [
      "an output that is neither an object nor a list",
      { output: z.string() },
      'Template "demo:write" output must have object or array at its root',
    ],
    [
      "an output that may be one of several objects",
      { output: z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]) },
      "output must have object or array at its root",
    ],
  ])("%s", (_, given, message) => {
    expect(() => createTemplate(given)).toThrow(PromptValidationError);
    expect(() => createTemplate(given)).toThrow(message);
  });

  test("missing options", () => {
    expect(() => new PromptTemplate(undefined as never)).toThrow(PromptValidationError);
  });
});
