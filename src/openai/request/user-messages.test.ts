import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createTaskPrompt,
  lookTool,
  runScript,
  systemMessage,
} from "../../../tests/support/openai-run.ts";
import { functionCall, message } from "../../../tests/support/wire-server.ts";
import type { Attachment } from "../../prompt/attachment.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "wink-attach-"));
  await writeFile(join(folder, "report.pdf"), "%PDF-1.7");
  await writeFile(join(folder, "plot.PNG"), new Uint8Array([1, 2, 3]));
  await writeFile(join(folder, "empty.txt"), "");
});
afterAll(() => rm(folder, { recursive: true }));

const sendAttachments = async (...files: readonly Attachment[]) => {
  const prompt = createTaskPrompt().attach(...files);
  const { bodies, error } = await runScript([[message("Hi.")]], { prompt });
  if (error) throw error;
  return Object(bodies[0]?.["input"])[1];
};

describe("createUserMessages() sends", () => {
  test("a stored file by its id", async () => {
    expect(await sendAttachments({ fileId: "file-1" })).toEqual({
      type: "message",
      role: "user",
      content: [{ type: "input_file", file_id: "file-1" }],
    });
  });

  test("an image by its URL", async () => {
    const { content } = await sendAttachments({ imageUrl: "https://owls.example/owl.png" });
    const image_url = "https://owls.example/owl.png";
    expect(content).toEqual([{ type: "input_image", detail: "auto", image_url }]);
  });

  test("a host file with its bytes", async () => {
    const { content } = await sendAttachments({ path: join(folder, "report.pdf") });
    const file_data = `data:application/pdf;base64,${btoa("%PDF-1.7")}`;
    expect(content).toEqual([{ type: "input_file", filename: "report.pdf", file_data }]);
  });

  test("a host image, ignoring the case of its extension", async () => {
    const { content } = await sendAttachments({ path: join(folder, "plot.PNG") });
    const image_url = "data:image/png;base64,AQID";
    expect(content).toEqual([{ type: "input_image", detail: "auto", image_url }]);
  });

  test("100,000 bytes unchanged", async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
    const { content } = await sendAttachments({ bytes, filename: "all.bin" });
    const [head, body] = content[0].file_data.split(",");
    expect(head).toBe("data:application/octet-stream;base64");
    expect(Uint8Array.from(atob(body), (char) => char.charCodeAt(0))).toEqual(bytes);
  });

  test("several attachments in order", async () => {
    const { content } = await sendAttachments({ fileId: "file-2" }, { fileId: "file-1" });
    expect(content).toMatchObject([{ file_id: "file-2" }, { file_id: "file-1" }]);
  });
});

test("attachments are sent once and remain in the conversation", async () => {
  const prompt = createTaskPrompt({ tools: [lookTool] }).attach({ fileId: "file-1" });
  const { bodies } = await runScript([[functionCall("look", {})], [message("Hi.")]], { prompt });
  const files = { type: "message", role: "user", content: [{ file_id: "file-1" }] };
  expect(bodies[1]?.["input"]).toMatchObject([systemMessage, files, {}, { output: "Seen." }]);
});

describe("an attachment is rejected before any request if it is", () => {
  const getRejection = async (attachment: Attachment) => {
    const prompt = createTaskPrompt().attach(attachment);
    const { error, requests } = await runScript([[message("never")]], { prompt });
    expect(requests).toEqual([]);
    expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
    return error?.message;
  };

  test("a missing file", async () => {
    const path = join(folder, "no.pdf");
    expect(await getRejection({ path })).toMatch(/must be a file that can be read \(ENOENT/);
  });

  test("a folder", async () => {
    expect(await getRejection({ path: folder })).toMatch(
      /must be a file that can be read \(EISDIR/,
    );
  });

  test("an empty file", async () => {
    expect(await getRejection({ path: join(folder, "empty.txt") })).toContain("(it has 0)");
  });

  test("larger than the API's limit", async () => {
    const bytes = new Uint8Array(50_000_001);
    expect(await getRejection({ bytes, filename: "big.bin" })).toContain(
      "Upload a larger file with uploadFile",
    );
  });
});
