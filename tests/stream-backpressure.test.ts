import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { MarkdownSection, Prompt, PromptTemplate } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { clients } from "./support/openai-clients.ts";
import { startRawServer } from "./support/raw-server.ts";
import { message } from "./support/wire-server.ts";
import { formatEvents } from "./support/wire-stream.ts";

const MIB = 1024 * 1024;
const DELTAS = 512;
const delta = "x".repeat(64 * 1024);

const task = new MarkdownSection({ key: "task", title: "Task", template: "Write a long text." });
const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "long", sections: [task] }));

/** Starts a server that streams 32 MiB of text as fast as it is read. */
async function startLongStream() {
  const sent = { bytes: 0, isClosed: false };
  const item = { ...message("Done."), id: "msg_1" };
  const place = { output_index: 0, item_id: "msg_1", content_index: 0 };
  const response = { id: "resp_1", status: "completed", model: "gpt-5.2", output: [item] };
  const server = await startRawServer(async (_request, out) => {
    const closed = new Promise<void>((resolve) => {
      out.once("close", () => {
        sent.isClosed = true;
        resolve();
      });
    });
    out.writeHead(200, { "content-type": "text/event-stream" });
    const write = async (event: object) => {
      const text = formatEvents([event as never]);
      sent.bytes += text.length;
      if (out.write(text) || out.closed) return;
      await Promise.race([closed, new Promise<void>((resolve) => out.once("drain", resolve))]);
    };
    const started = { ...item, status: "in_progress", content: [] };
    await write({ type: "response.created", response: { ...response, output: [] } });
    await write({ type: "response.output_item.added", output_index: 0, item: started });
    for (let count = 0; count < DELTAS && !out.closed; count++) {
      await write({ type: "response.output_text.delta", ...place, delta });
    }
    await write({ type: "response.output_item.done", output_index: 0, item });
    await write({ type: "response.completed", response });
    out.end();
  });
  /** Waits until the server can send no more. */
  const settle = async () => {
    for (let last = -1; last !== sent.bytes; ) {
      last = sent.bytes;
      await pause(200);
    }
  };
  return { url: server.url, sent, settle };
}

describe.each(clients)("a stream on %s", (_name, client) => {
  test("stops reading from the provider while its reader is 1 MiB behind, and continues", async () => {
    const { url, sent, settle } = await startLongStream();
    const stream = new OpenAIAdapter({ model: "gpt-5.2", ...client(url) }).stream(prompt);
    const reader = stream.text()[Symbol.asyncIterator]();
    let length = (await reader.next()).value.length;
    await settle();
    // The rest of it is in the buffers of sockets.
    expect(sent.bytes).toBeLessThan(16 * MIB);
    for (let next = await reader.next(); !next.done; next = await reader.next()) {
      length += next.value.length;
    }
    expect(length).toBe(DELTAS * delta.length);
    expect((await stream.response).text).toBe("Done.");
  });

  test("closes the connection of a reader that is behind when it leaves", async () => {
    const { url, sent, settle } = await startLongStream();
    const stream = new OpenAIAdapter({ model: "gpt-5.2", ...client(url) }).stream(prompt);
    const reader = stream.text()[Symbol.asyncIterator]();
    await reader.next();
    await settle();
    await reader.return?.();
    await expect(stream.response).rejects.toMatchObject({ name: "AbortError" });
    await settle();
    expect(sent.isClosed).toBe(true);
    expect(sent.bytes).toBeLessThan(16 * MIB);
  });

  test("is not slowed down without a reader, whose events are dropped after 8 MiB", async () => {
    const { url, sent } = await startLongStream();
    const stream = new OpenAIAdapter({ model: "gpt-5.2", ...client(url) }).stream(prompt);
    expect((await stream.response).text).toBe("Done.");
    expect(sent.bytes).toBeGreaterThan(32 * MIB);
    await expect(stream.text()[Symbol.asyncIterator]().next()).rejects.toThrow("More than 8 MiB");
  });
});
