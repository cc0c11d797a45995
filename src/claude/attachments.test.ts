import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../tests/support/temporary-tree.ts";
import { InvalidOptionError } from "../base/errors.ts";
import type { Attachment } from "../prompt/attachment.ts";
import { checkAttachment, toAttachedBlock } from "./attachments.ts";

const attachedBlocks = (attachments: readonly Attachment[]) =>
  Promise.all(attachments.map(toAttachedBlock));
const checkAttachments = (attachments: readonly Attachment[]) =>
  attachments.forEach(checkAttachment);

const bytes = (text: string) => new TextEncoder().encode(text);

describe("an attachment is a block of the first message:", () => {
  test("none", async () => {
    expect(await attachedBlocks([])).toEqual([]);
  });

  test("an image by its address", async () => {
    const url = "https://owls.example/owl.png";
    expect(await attachedBlocks([{ imageUrl: url }])).toEqual([
      { type: "image", source: { type: "url", url } },
    ]);
  });

  test("an image within its address", async () => {
    expect(await attachedBlocks([{ imageUrl: "data:image/png;base64,AQID" }])).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AQID" } },
    ]);
  });

  test("an image of this machine, whatever the case of its ending", async () => {
    const folder = temporaryTree({ "plot.PNG": new Uint8Array([1, 2, 3]) });
    expect(await attachedBlocks([{ path: join(folder, "plot.PNG") }])).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AQID" } },
    ]);
  });

  test("a PDF", async () => {
    const data = btoa("%PDF-1.7");
    const source = { type: "base64", media_type: "application/pdf", data };
    expect(await attachedBlocks([{ bytes: bytes("%PDF-1.7"), filename: "a.pdf" }])).toEqual([
      { type: "document", title: "a.pdf", source },
    ]);
  });

  test("a text of any ending, in words", async () => {
    const folder = temporaryTree({ "notes/ülm.py": "print('hú')" });
    expect(await attachedBlocks([{ path: join(folder, "notes/ülm.py") }])).toEqual([
      {
        type: "document",
        title: "ülm.py",
        source: { type: "text", media_type: "text/plain", data: "print('hú')" },
      },
    ]);
  });

  test("several of them, in their order", async () => {
    const texts = ["b", "a"].map((text) => ({ bytes: bytes(text), filename: `${text}.txt` }));
    expect(await attachedBlocks(texts)).toMatchObject([{ title: "b.txt" }, { title: "a.txt" }]);
  });
});

describe("refused:", () => {
  const message =
    'attach(files).fileId must be left out on Claude, which has no such files, got "file-1". Attach it by path or bytes';

  test("a file of another provider, before anything is started", () => {
    const all = [{ imageUrl: "https://owls.example/owl.png" }, { fileId: "file-1" }];
    expect(() => checkAttachments(all)).toThrow(message);
    expect(() => checkAttachments(all.slice(0, 1))).not.toThrow();
  });

  test("a file of another provider, where nobody looked before", async () => {
    await expect(attachedBlocks([{ fileId: "file-1" }])).rejects.toThrow(message);
  });

  test("bytes that are neither an image, nor a PDF, nor a text", async () => {
    const binary = attachedBlocks([{ bytes: new Uint8Array([0xff, 0xfe]), filename: "a.bin" }]);
    await expect(binary).rejects.toThrow(InvalidOptionError);
    await expect(binary).rejects.toThrow(
      'attach(files) must be an image, a PDF or a text in UTF-8 on Claude, got "a.bin". Mount it in a ClaudeAgentWorkspaceSection',
    );
  });

  test("an empty file, and one that is too large for a request", async () => {
    const empty = attachedBlocks([{ bytes: new Uint8Array(), filename: "a.txt" }]);
    await expect(empty).rejects.toThrow("must have 1 to 20000000 bytes (it has 0)");
    const large = attachedBlocks([{ bytes: new Uint8Array(20_000_001), filename: "a.txt" }]);
    await expect(large).rejects.toThrow("mount a larger one in a ClaudeAgentWorkspaceSection");
  });

  test("a file that is not there", async () => {
    const path = join(temporaryTree(), "no.txt");
    await expect(attachedBlocks([{ path }])).rejects.toThrow("must be a file that can be read");
  });
});
