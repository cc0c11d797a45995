import { describe, expect, test } from "vitest";
import { UserMessages } from "./sdk.ts";

const createBlock = (text: string) => ({ type: "text", text });
const createMessage = (text: string) => ({
  type: "user",
  message: { role: "user", content: [createBlock(text)] },
  parent_tool_use_id: null,
});

async function readAll(queue: UserMessages): Promise<readonly unknown[]> {
  const messages: unknown[] = [];
  for await (const one of queue) messages.push(one);
  return messages;
}

describe("UserMessages", () => {
  test("yields messages that were added before reading, in order and in the SDK's format", async () => {
    const queue = new UserMessages();
    queue.add([createBlock("one")]);
    queue.add([createBlock("two")]);
    queue.close();
    expect(await readAll(queue)).toEqual([createMessage("one"), createMessage("two")]);
  });

  test("waits until a message is added", async () => {
    const queue = new UserMessages();
    const messages = queue[Symbol.asyncIterator]();
    for (const text of ["one", "two"]) {
      const next = messages.next();
      queue.add([createBlock(text)]);
      expect(await next).toEqual({ done: false, value: createMessage(text) });
    }
  });

  test("loses no message that is added while the reader resumes", async () => {
    const queue = new UserMessages();
    const messages = queue[Symbol.asyncIterator]();
    const first = messages.next();
    queue.add([createBlock("one")]);
    queue.add([createBlock("two")]);
    expect((await first).value).toEqual(createMessage("one"));
    expect((await messages.next()).value).toEqual(createMessage("two"));
  });

  test("ends the reader when closed, after all added messages", async () => {
    const queue = new UserMessages();
    const received = readAll(queue);
    queue.add([createBlock("one")]);
    queue.close();
    queue.close();
    expect(await received).toEqual([createMessage("one")]);
  });
});
