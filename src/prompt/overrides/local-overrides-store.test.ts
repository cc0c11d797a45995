import { describe, expect, test } from "vitest";
import { InvalidOptionError, PromptValidationError, WinkError } from "../../base/errors.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { Tool } from "../../tools/tool.ts";
import { Prompt } from "../prompt.ts";
import { MarkdownSection } from "../sections/markdown-section.ts";
import { PromptTemplate } from "../template.ts";
import { LocalOverridesStore } from "./local-overrides-store.ts";
import type { Overrides } from "./overrides.ts";

const tools = [new Tool({ name: "look", description: "Looks.", params: null, handler: null })];
const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", tools });
const template = new PromptTemplate({ ns: "demo", key: "k", sections: [task] });
const { descriptor } = template;
const expectedHash = descriptor.sections[0]?.contentHash ?? "";
const expectedContractHash = descriptor.tools[0]?.contractHash ?? "";
const overrides: Overrides = {
  sections: { task: { expectedHash, body: "Work well." } },
  tools: { look: { expectedContractHash, description: "Looks twice." } },
};

describe("LocalOverridesStore", () => {
  test("loads saved overrides by prompt and tag", async () => {
    const filesystem = new InMemoryFilesystem();
    const store = new LocalOverridesStore(filesystem);
    expect(await store.load(descriptor, "latest")).toBeNull();
    await store.save(descriptor, "latest", overrides);
    expect(await store.load(descriptor, "latest")).toMatchObject(overrides);
    expect(await store.load(descriptor, "beta")).toBeNull();
    expect(await store.load({ ...descriptor, key: "other" }, "latest")).toBeNull();
  });

  test("writes a readable file with stable order", async () => {
    const filesystem = new InMemoryFilesystem();
    await new LocalOverridesStore(filesystem).save(descriptor, "beta", overrides);
    const text = await filesystem.readText("demo/k/beta.json");
    expect(text.endsWith("}\n")).toBe(true);
    expect(Object.keys(JSON.parse(text))).toEqual(["sections", "tools", "version"]);
    expect(text).toContain('  "sections": {\n    "task": {\n      "body": "Work well."');
  });

  test("provides the overrides of a prompt", async () => {
    const store = new LocalOverridesStore(new InMemoryFilesystem());
    await store.save(descriptor, "latest", overrides);
    const prompt = await new Prompt(template, { overrides: store }).loadOverrides();
    expect(prompt.render().text).toContain("Work well.");
    expect(prompt.render().tools[0]?.description).toBe("Looks twice.");
  });

  test.each<[string, Overrides]>([
    ["a stale section", { sections: { task: { expectedHash: "0", body: "x" } } }],
    ["an unknown section", { sections: { nought: { expectedHash, body: "x" } } }],
    ["a stale tool", { tools: { look: { expectedContractHash: "0" } } }],
    ["an unknown tool", { tools: { hear: { expectedContractHash } } }],
  ])("rejects saving %s and writes nothing", async (_, wrong) => {
    const filesystem = new InMemoryFilesystem();
    const store = new LocalOverridesStore(filesystem);
    await expect(store.save(descriptor, "latest", wrong)).rejects.toThrow(InvalidOptionError);
    expect(await filesystem.glob("*")).toEqual([]);
  });

  test.each([
    ["invalid JSON", "{"],
    ["another version", '{"version":2,"sections":{},"tools":{}}'],
    ["no sections", '{"version":1,"tools":{}}'],
    ["a section without a body", '{"version":1,"sections":{"a":{"expectedHash":"0"}},"tools":{}}'],
    [
      "a tool of another form",
      '{"version":1,"sections":{},"tools":{"a":{"expectedContractHash":"0","description":1}}}',
    ],
    [
      "param descriptions that are not strings",
      '{"version":1,"sections":{},"tools":{"a":{"expectedContractHash":"0","paramDescriptions":{"b":1}}}}',
    ],
  ])("names the file that it cannot read: %s", async (_, text) => {
    const filesystem = new InMemoryFilesystem();
    await filesystem.writeText("demo/k/latest.json", text);
    const work = new LocalOverridesStore(filesystem).load(descriptor, "latest");
    await expect(work).rejects.toBeInstanceOf(WinkError);
    await expect(work).rejects.toThrow('The overrides in "demo/k/latest.json" cannot be read');
  });

  test.each(["../x", "a/b", "", "A"])("rejects the tag %j", async (tag) => {
    const store = new LocalOverridesStore(new InMemoryFilesystem());
    await expect(store.load(descriptor, tag)).rejects.toThrow(PromptValidationError);
    await expect(store.save(descriptor, tag, {})).rejects.toThrow(PromptValidationError);
  });

  test.each([undefined, {}])("rejects %j as a file system", (filesystem) => {
    expect(() => new LocalOverridesStore(filesystem as never)).toThrow(InvalidOptionError);
  });
});
