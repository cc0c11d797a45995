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

describe("checkAttachment() accepts", () => {
  test.each([
    ["an uploaded file", { fileId: "file_1" }],
    ["a file of the host", { path: "photos/owl.jpg" }],
    ["bytes with a name", { bytes: new Uint8Array([1]), filename: "a.bin" }],
    ["an https image", { imageUrl: "https://owls.example/owl.png" }],
    ["an http image", { imageUrl: "http://localhost:8080/owl.png" }],
    ["a data: image", { imageUrl: "data:image/png;base64,AA==" }],
  ])("%s", (_, attachment) => {
    const checked = checkAttachment(attachment, "file");
    expect(checked).toEqual(attachment);
    expect(checked).not.toBe(attachment);
    expect(checked).toSatisfy(Object.isFrozen);
    expect(attachment).not.toSatisfy(Object.isFrozen);
  });
});

describe("checkAttachment() rejects", () => {
  test.each([
    ["nothing", undefined, "file must be an object, got undefined"],
    ["text", "owl.jpg", 'file must be an object, got "owl.jpg"'],
    ["an array", [], "file must be an object"],
    ["bare bytes", new Uint8Array(1), "file must be an object, got a Uint8Array"],
    ["an object without a source", {}, "file must have exactly one source, got []"],
    ["a filename alone", { filename: "a.bin" }, 'must have exactly one source, got ["filename"]'],
    [
      "two sources",
      { fileId: "file_1", path: "a" },
      'must have exactly one source, got ["fileId","path"]',
    ],
    [
      "a file id that is not a string",
      { fileId: 5 },
      "file.fileId must be a non-blank string, got 5",
    ],
    ["a file id that is null", { fileId: null }, "file.fileId must be a non-blank string"],
    ["a blank path", { path: "  " }, "file.path must be a non-blank string"],
    ["an empty URL", { imageUrl: "" }, "file.imageUrl must be a non-blank string"],
    [
      "bytes in an array",
      { bytes: [1], filename: "a" },
      "file.bytes must be a Uint8Array, got [1]",
    ],
    [
      "bytes without a name",
      { bytes: new Uint8Array(1) },
      "file.filename must be a non-blank string",
    ],
    [
      "an image with a file: URL",
      { imageUrl: "file:///owl.png" },
      "must be an http, https or data:image URL",
    ],
    [
      "an image that is not a URL",
      { imageUrl: "data:text/plain,owl" },
      "must be an http, https or data:image",
    ],
  ])("%s", (_, attachment, message) => {
    const check = () => checkAttachment(attachment as never, "file");
    expect(check).toThrow(PromptValidationError);
    expect(check).toThrow(message);
    expect(check).toThrow('Use "{ fileId }", "{ path }", "{ bytes, filename }", "{ imageUrl }"');
  });
});

describe("Prompt.attach()", () => {
  test("returns a new prompt with all attachments in order", () => {
    const one = prompt.attach({ fileId: "file_1" });
    const two = one.attach({ path: "a" }, { path: "b" });
    expect(prompt.render().attachments).toEqual([]);
    expect(one.render().attachments).toEqual([{ fileId: "file_1" }]);
    expect(two.render().attachments).toEqual([{ fileId: "file_1" }, { path: "a" }, { path: "b" }]);
    expect(two.render().attachments).toSatisfy(Object.isFrozen);
  });

  test("names the rejected file", () => {
    const attach = () => prompt.attach({ path: "a" }, { path: "" });
    expect(attach).toThrow("attach(files)[1].path must be a non-blank string");
  });

  test("accepts no files", () => {
    expect(prompt.attach().render().attachments).toEqual([]);
  });

  test("is independent of the order of bind() and attach()", () => {
    expect(prompt.attach({ path: "a" }).bind({}).render().attachments).toHaveLength(1);
    expect(prompt.bind({}).attach({ path: "a" }).render().attachments).toHaveLength(1);
  });
});
