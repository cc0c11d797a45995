import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readRecords, readString } from "../../src/base/json.ts";
import { createLocalFixture, createPrompt } from "../support/claude/claude-fixture.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

/** An image of one pixel. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const pdf = Buffer.from("%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer<</Root 1 0 R>>\n");

describe.skipIf(sdkMissing)("Attachments on the real SDK", () => {
  test(
    "are sent with the first message, by path, bytes or URL",
    async () => {
      const fixture = await createLocalFixture([[{ say: "Seen." }]]);
      const folder = temporaryTree({ "pixel.png": Buffer.from(png, "base64"), "a.pdf": pdf });
      const prompt = createPrompt().attach(
        { path: join(folder, "pixel.png") },
        { path: join(folder, "a.pdf") },
        { bytes: new TextEncoder().encode("Grüße"), filename: "notes.txt" },
        { imageUrl: `data:image/png;base64,${png}` },
      );
      const response = await fixture.run(prompt);
      expect(response.text).toBe("Seen.");
      const [first] = readRecords(fixture.requests[0]?.body ?? {}, "messages");
      const blocks = readRecords(first ?? {}, "content").filter(
        (block) => block["type"] !== "text",
      );
      const image = { type: "base64", media_type: "image/png" };
      expect(blocks).toMatchObject([
        { type: "image", source: image },
        {
          type: "document",
          title: "a.pdf",
          source: { media_type: "application/pdf", data: pdf.toString("base64") },
        },
        {
          type: "document",
          title: "notes.txt",
          source: { type: "text", media_type: "text/plain", data: "Grüße" },
        },
        { type: "image", source: image },
      ]);
      expect(
        readRecords(first ?? {}, "content").map((block) => readString(block, "text")),
      ).toContain("## 1. Task (task)\n\nGo.");
    },
    SDK_TIMEOUT,
  );

  test(
    "are rejected before the SDK starts if they are another provider's, unsupported or missing",
    async () => {
      const fixture = await createLocalFixture([[{ say: "Not requested." }]]);
      const file = await fixture.runToError(createPrompt().attach({ fileId: "file_1" }));
      expect(file.message).toBe(
        "attach(files).fileId must be omitted on Claude, which cannot read files by id, got " +
          '"file_1". Attach the file by path or bytes.',
      );
      const bytes = Uint8Array.of(0xff, 0xfe, 0xfd);
      const odd = await fixture.runToError(createPrompt().attach({ bytes, filename: "odd.bin" }));
      expect(odd.message).toBe(
        "attach(files) must be an image, a PDF or UTF-8 text on Claude, got " +
          '"odd.bin". Mount the file in a ClaudeAgentWorkspaceSection, where the model\'s tools can read it.',
      );
      const missing = await fixture.runToError(createPrompt().attach({ path: "/nowhere/a.png" }));
      expect(missing.message).toContain("/nowhere/a.png");
      expect(fixture.requests).toEqual([]);
    },
    SDK_TIMEOUT,
  );
});
