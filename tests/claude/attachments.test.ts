import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordsAt, textAt } from "../../src/base/reading.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { localStage, promptOf } from "../support/claude/stage.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

/** One pixel. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const pdf = Buffer.from("%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer<</Root 1 0 R>>\n");

describe.skipIf(sdkMissing)("Attachments on the real SDK", () => {
  test(
    "go with the first message, by path, by bytes or by address",
    async () => {
      const stage = await localStage([[{ say: "Seen." }]]);
      const folder = temporaryTree({ "pixel.png": Buffer.from(png, "base64"), "a.pdf": pdf });
      const prompt = promptOf().attach(
        { path: join(folder, "pixel.png") },
        { path: join(folder, "a.pdf") },
        { bytes: new TextEncoder().encode("Grüße"), filename: "notes.txt" },
        { imageUrl: `data:image/png;base64,${png}` },
      );
      const response = await stage.run(prompt);
      expect(response.text).toBe("Seen.");
      const [first] = recordsAt(stage.requests[0]?.body ?? {}, "messages");
      const blocks = recordsAt(first ?? {}, "content").filter((block) => block["type"] !== "text");
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
      expect(recordsAt(first ?? {}, "content").map((block) => textAt(block, "text"))).toContain(
        "## 1. Task (task)\n\nGo.",
      );
    },
    SDK_TIMEOUT,
  );

  test(
    "of another provider, or that are not there, are refused before anything starts",
    async () => {
      const stage = await localStage([[{ say: "Not asked." }]]);
      const file = await stage.failure(promptOf().attach({ fileId: "file_1" }));
      expect(file.message).toBe(
        "attach(files).fileId must be left out on Claude, which has no such files, got " +
          '"file_1": attach it by path or bytes',
      );
      const bytes = Uint8Array.of(0xff, 0xfe, 0xfd);
      const odd = await stage.failure(promptOf().attach({ bytes, filename: "odd.bin" }));
      expect(odd.message).toBe(
        "attach(files) must be an image, a PDF or a text in UTF-8 on Claude, got " +
          '"odd.bin": mount it in a ClaudeAgentWorkspaceSection, where the model\'s tools can read it',
      );
      const missing = await stage.failure(promptOf().attach({ path: "/nowhere/a.png" }));
      expect(missing.message).toContain("/nowhere/a.png");
      expect(stage.requests).toEqual([]);
    },
    SDK_TIMEOUT,
  );
});
