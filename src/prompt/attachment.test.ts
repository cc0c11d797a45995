import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../base/errors.ts";
import { checkAttachment } from "./attachment.ts";
import { Prompt } from "./prompt.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";

const prompt = new Prompt(
  new PromptTemplate({
    ns: "demo",
    key: "k",
    sections: [new MarkdownSection({ key: "task", title: "Task", template: "Look." })],
  }),
);

describe("an attachment may be", () => {
  test.each([
    ["a file the provider has", { fileId: "file_1" }],
    ["a file of this machine", { path: "photos/owl.jpg" }],
    ["bytes with a name", { bytes: new Uint8Array([1]), filename: "a.bin" }],
    ["an image on the web", { imageUrl: "https://owls.example/owl.png" }],
    ["an image without encryption", { imageUrl: "http://localhost:8080/owl.png" }],
    ["an image within its address", { imageUrl: "data:image/png;base64,AA==" }],
  ])("%s", (_, attachment) => {
    const checked = checkAttachment(attachment, "file");
    expect(checked).toEqual(attachment);
    expect(checked).not.toBe(attachment);
    expect(checked).toSatisfy(Object.isFrozen);
    expect(attachment).not.toSatisfy(Object.isFrozen);
  });
});

describe("an attachment may not be", () => {
  test.each([
    ["nothing", undefined, "file must be an object, got undefined"],
    ["text", "owl.jpg", 'file must be an object, got "owl.jpg"'],
    ["a list", [], "file must be an object"],
    ["bytes as they are", new Uint8Array(1), "file must be an object, got a Uint8Array"],
    ["an object without a source", {}, "file must have exactly one source, got []"],
    ["a name alone", { filename: "a.bin" }, 'must have exactly one source, got ["filename"]'],
    [
      "of two sources",
      { fileId: "file_1", path: "a" },
      'must have exactly one source, got ["fileId","path"]',
    ],
    [
      "a file id that is no text",
      { fileId: 5 },
      "file.fileId must be text that is not blank, got 5",
    ],
    ["a file id that is null", { fileId: null }, "file.fileId must be text that is not blank"],
    ["a blank path", { path: "  " }, "file.path must be text that is not blank"],
    ["an empty address", { imageUrl: "" }, "file.imageUrl must be text that is not blank"],
    ["bytes in a list", { bytes: [1], filename: "a" }, "file.bytes must be a Uint8Array, got [1]"],
    ["bytes without a name", { bytes: new Uint8Array(1) }, "file.filename must name the bytes"],
    [
      "an image in a file",
      { imageUrl: "file:///owl.png" },
      "must be an http, https or data:image URL",
    ],
    [
      "an image that is text",
      { imageUrl: "data:text/plain,owl" },
      "must be an http, https or data:image",
    ],
  ])("%s", (_, attachment, message) => {
    const check = () => checkAttachment(attachment as never, "file");
    expect(check).toThrow(PromptValidationError);
    expect(check).toThrow(message);
    expect(check).toThrow(
      'give one of "{ fileId }", "{ path }", "{ bytes, filename }", "{ imageUrl }"',
    );
  });
});

describe("attach", () => {
  test("gives a new prompt, with all that was attached, in order", () => {
    const one = prompt.attach({ fileId: "file_1" });
    const two = one.attach({ path: "a" }, { path: "b" });
    expect(prompt.render().attachments).toEqual([]);
    expect(one.render().attachments).toEqual([{ fileId: "file_1" }]);
    expect(two.render().attachments).toEqual([{ fileId: "file_1" }, { path: "a" }, { path: "b" }]);
    expect(two.render().attachments).toSatisfy(Object.isFrozen);
  });

  test("says which file it refuses", () => {
    const attach = () => prompt.attach({ path: "a" }, { path: "" });
    expect(attach).toThrow("attach(files)[1].path must be text");
  });

  test("may be given nothing", () => {
    expect(prompt.attach().render().attachments).toEqual([]);
  });

  test("outlives a bind, before or after", () => {
    expect(prompt.attach({ path: "a" }).bind({}).render().attachments).toHaveLength(1);
    expect(prompt.bind({}).attach({ path: "a" }).render().attachments).toHaveLength(1);
  });
});
