import { describe, expect, test } from "vitest";
import { UserMessages } from "./sdk.ts";

const block = (text: string) => ({ type: "text", text });
const message = (text: string) => ({
  type: "user",
  message: { role: "user", content: [block(text)] },
  parent_tool_use_id: null,
});

async function all(inbox: UserMessages): Promise<readonly unknown[]> {
  const messages: unknown[] = [];
  for await (const one of inbox) messages.push(one);
  return messages;
}

describe("a queue of messages to the model", () => {
  test("gives what was put before anybody listened, in order, as the SDK's messages", async () => {
    const inbox = new UserMessages();
    inbox.put([block("one")]);
    inbox.put([block("two")]);
    inbox.close();
    expect(await all(inbox)).toEqual([message("one"), message("two")]);
  });

  test("keeps who listens waiting until something is put", async () => {
    const inbox = new UserMessages();
    const messages = inbox[Symbol.asyncIterator]();
    for (const text of ["one", "two"]) {
      const next = messages.next();
      inbox.put([block(text)]);
      expect(await next).toEqual({ done: false, value: message(text) });
    }
  });

  test("loses nothing that is put while the listener wakes up", async () => {
    const inbox = new UserMessages();
    const messages = inbox[Symbol.asyncIterator]();
    const first = messages.next();
    inbox.put([block("one")]);
    inbox.put([block("two")]);
    expect((await first).value).toEqual(message("one"));
    expect((await messages.next()).value).toEqual(message("two"));
  });

  test("that is closed ends who listens, after all that was put", async () => {
    const inbox = new UserMessages();
    const heard = all(inbox);
    inbox.put([block("one")]);
    inbox.close();
    inbox.close();
    expect(await heard).toEqual([message("one")]);
  });
});
