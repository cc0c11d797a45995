import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { EventChannel } from "./event-channel.ts";
import type { SessionMessage } from "./session-message.ts";

/** A reader that takes nothing before `drain`, and then everything. */
class SlowReader extends EventEmitter {
  readonly messages: SessionMessage[] = [];
  #isSlow = true;

  write(text: string): boolean {
    this.messages.push(JSON.parse(text.slice("data: ".length)));
    return !this.#isSlow;
  }

  drain(): void {
    this.#isSlow = false;
    this.emit("drain");
  }
}

async function openSlowChannel() {
  const reader = new SlowReader();
  const channel = new EventChannel(reader as unknown as ServerResponse);
  onTestFinished(() => channel[Symbol.dispose]());
  channel.onText(1, "First.");
  await setImmediate(); // it is sent, and the reader is full
  return { reader, channel };
}

test("joins the text that waits for a slow reader", async () => {
  const { reader, channel } = await openSlowChannel();
  for (const delta of [" Second.", " Third."]) channel.onText(1, delta);
  reader.drain();
  await expect
    .poll(() => reader.messages)
    .toEqual([
      { type: "text", turn: 1, delta: "First." },
      { type: "text", turn: 1, delta: " Second. Third." },
    ]);
});

test("keeps only the end of a long text for a slow reader, who begins again with it", async () => {
  const { reader, channel } = await openSlowChannel();
  for (let n = 0; n < 1_000; n++) channel.onText(1, "x".repeat(1_000));
  channel.onText(1, "The end.");
  reader.drain();
  await expect.poll(() => reader.messages.length).toBe(3);
  const [, reset, text] = reader.messages;
  expect(reset).toEqual({ type: "text", turn: null, delta: "" });
  expect(text).toMatchObject({ turn: 1, delta: expect.stringMatching(/^x{10,20000}The end\.$/) });
});

test("forgets waiting text of a turn that ends, and keeps the text of the next one", async () => {
  const { reader, channel } = await openSlowChannel();
  channel.onText(1, " Forgotten.");
  channel.onText(1, null);
  channel.onText(1, "Sent");
  channel.onText(1, " again.");
  reader.drain();
  await expect
    .poll(() => reader.messages.slice(1))
    .toEqual([
      { type: "text", turn: null, delta: "" },
      { type: "text", turn: 1, delta: "Sent again." },
    ]);
});
