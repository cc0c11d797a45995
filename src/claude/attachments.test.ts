import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../tests/support/temporary-tree.ts";
import { InvalidOptionError } from "../base/errors.ts";
import type { Attachment } from "../prompt/attachment.ts";
import { checkAttachment, toAttachmentBlock } from "./attachments.ts";

const toAttachmentBlocks = (attachments: readonly Attachment[]) =>
  Promise.all(attachments.map((attachment) => toAttachmentBlock(attachment, "attach(files)")));
const checkAttachments = (attachments: readonly Attachment[]) => {
  for (const attachment of attachments) checkAttachment(attachment, "attach(files)");
};

const encode = (text: string) => new TextEncoder().encode(text);

describe("toAttachmentBlock()", () => {
  test("returns no blocks without attachments", async () => {
    expect(await toAttachmentBlocks([])).toEqual([]);
  });

  test("converts an image URL", async () => {
    const url = "https://owls.example/owl.png";
    expect(await toAttachmentBlocks([{ imageUrl: url }])).toEqual([
      { type: "image", source: { type: "url", url } },
    ]);
  });

  test("converts an image in a data URL", async () => {
    expect(await toAttachmentBlocks([{ imageUrl: "data:image/png;base64,AQID" }])).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AQID" } },
    ]);
  });

  test("converts a local image, with an extension in any case", async () => {
    const folder = temporaryTree({ "plot.PNG": new Uint8Array([1, 2, 3]) });
    expect(await toAttachmentBlocks([{ path: join(folder, "plot.PNG") }])).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AQID" } },
    ]);
  });

  test("converts a PDF", async () => {
    const data = btoa("%PDF-1.7");
    const source = { type: "base64", media_type: "application/pdf", data };
    expect(await toAttachmentBlocks([{ bytes: encode("%PDF-1.7"), filename: "a.pdf" }])).toEqual([
      { type: "document", title: "a.pdf", source },
    ]);
  });

  test("converts a text file with any extension", async () => {
    const folder = temporaryTree({ "notes/ülm.py": "print('hú')" });
    expect(await toAttachmentBlocks([{ path: join(folder, "notes/ülm.py") }])).toEqual([
      {
        type: "document",
        title: "ülm.py",
        source: { type: "text", media_type: "text/plain", data: "print('hú')" },
      },
    ]);
  });

  test("keeps the order of several attachments", async () => {
    const texts = ["b", "a"].map((text) => ({ bytes: encode(text), filename: `${text}.txt` }));
    expect(await toAttachmentBlocks(texts)).toMatchObject([{ title: "b.txt" }, { title: "a.txt" }]);
  });
});

describe("invalid attachments", () => {
  const message =
    'attach(files).fileId must be omitted on Claude, which cannot read files by id, got "file-1". Attach the file by path or bytes';

  test("checkAttachment() rejects another provider's file before the SDK starts", () => {
    const all = [{ imageUrl: "https://owls.example/owl.png" }, { fileId: "file-1" }];
    expect(() => checkAttachments(all)).toThrow(message);
    expect(() => checkAttachments(all.slice(0, 1))).not.toThrow();
  });

  test("toAttachmentBlock() rejects another provider's file, and names the place of the attachment", async () => {
    await expect(toAttachmentBlocks([{ fileId: "file-1" }])).rejects.toThrow(message);
    await expect(toAttachmentBlock({ fileId: "file-1" }, "evaluate(input)[1]")).rejects.toThrow(
      "evaluate(input)[1].fileId must be omitted on Claude",
    );
  });

  test("toAttachmentBlock() rejects bytes that are not an image, a PDF or UTF-8 text", async () => {
    const binary = toAttachmentBlocks([{ bytes: new Uint8Array([0xff, 0xfe]), filename: "a.bin" }]);
    await expect(binary).rejects.toThrow(InvalidOptionError);
    await expect(binary).rejects.toThrow(
      'attach(files) must be an image, a PDF or UTF-8 text on Claude, got "a.bin". Mount the file in a ClaudeAgentWorkspaceSection',
    );
  });

  test("toAttachmentBlock() rejects an empty file, and a file above 20 MB", async () => {
    const empty = toAttachmentBlocks([{ bytes: new Uint8Array(), filename: "a.txt" }]);
    await expect(empty).rejects.toThrow("must have 1 to 20000000 bytes (it has 0)");
    const large = toAttachmentBlocks([{ bytes: new Uint8Array(20_000_001), filename: "a.txt" }]);
    await expect(large).rejects.toThrow("Mount a larger file in a ClaudeAgentWorkspaceSection");
  });

  test("toAttachmentBlock() rejects a missing file", async () => {
    const path = join(temporaryTree(), "no.txt");
    await expect(toAttachmentBlocks([{ path }])).rejects.toThrow("must be a file that can be read");
  });
});
