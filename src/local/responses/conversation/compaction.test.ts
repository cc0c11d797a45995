import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { randomIds } from "../../ids.ts";
import { builtInCatalog } from "../../tools/index.ts";
import { sealer as sealerOf } from "../../turn/sealer.ts";
import { compactItems, createCompactionItem, openCompactions } from "./compaction.ts";

const ids = randomIds();

const sealer = sealerOf(new Uint8Array(32).fill(7));
const services = { sealer, ids, catalog: builtInCatalog };
const user = { type: "message", role: "user", content: "One." };
const assistant = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text: "Eins." }],
};
const call = { id: "ci_1", type: "code_interpreter_call", code: "1" };
const answer = { type: "function_call_output", call_id: "call_1", output: "2" };

describe("a compaction", () => {
  test("keeps user messages unchanged and encrypts the rest", () => {
    const window = compactItems([user, assistant, call, answer], services);
    expect(window).toMatchObject([
      { role: "user", content: [{ type: "input_text", text: "One." }] },
      { type: "compaction" },
    ]);
    expect(openCompactions(window, services)).toMatchObject([
      { role: "user" },
      assistant,
      call,
      answer,
    ]);
  });

  test("accepts messages without a type", () => {
    const image = { type: "input_image", image_url: "data:," };
    const bare = { role: "user", content: [image] };
    const window = compactItems([bare, { role: "assistant", content: "Eins." }], services);
    expect(window[0]).toEqual({ type: "message", role: "user", content: [image] });
    expect(openCompactions(window, services)).toHaveLength(2);
  });

  test("is read once if its items are sent too", () => {
    const item = createCompactionItem([user, assistant, call, answer], services);
    const other = { type: "message", role: "user", content: "Two." };
    const parts = [{ type: "input_text", text: "One." }];
    const again = { id: "msg_9", type: "message", role: "user", content: parts };
    const read = openCompactions([again, assistant, call, answer, other, item], services);
    expect(read).toEqual([other, user, assistant, call, answer]);
  });

  test("distinguishes refusals and images from other parts", () => {
    const createAnswer = (part: object) => ({
      type: "message",
      role: "assistant",
      content: [part],
    });
    const [no, never] = ["No.", "Never."].map((refusal) =>
      createAnswer({ type: "refusal", refusal }),
    );
    const item = createCompactionItem([no ?? {}], services);
    expect(openCompactions([no ?? {}, never ?? {}, item], services)).toEqual([never, no]);
  });

  test("of a compaction contains the items of the first one", () => {
    const inner = createCompactionItem([user], services);
    const outer = createCompactionItem([inner, assistant], services);
    expect(openCompactions([outer], services)).toEqual([user, assistant]);
  });

  test("from another server is rejected with its position", () => {
    const other = sealerOf(new Uint8Array(32).fill(8));
    const item = createCompactionItem([user], { ...services, sealer: other });
    for (const wrong of [item, { type: "compaction" }])
      expect(() => openCompactions([user, wrong], services)).toThrow(
        expect.objectContaining({ status: 400, param: "input[1].encrypted_content" }),
      );
  });

  test("has a limited length, and retains user messages and the newest other items", () => {
    const random = () => randomBytes(3_000).toString("hex");
    const rest = Array.from({ length: 20 }, (_, place) => ({
      ...{ type: "message", role: "assistant" },
      content: `${place}: ${random()}`,
    }));
    const window = compactItems([user, ...rest], services);
    expect(JSON.stringify(window).length).toBeLessThan(24_000);
    const read = openCompactions(window, services);
    expect(read[0]).toMatchObject({ role: "user" });
    expect(read.at(-1)).toEqual(rest.at(-1));
    expect(read.slice(1)).toEqual(rest.slice(1 - read.length));
    const again = compactItems([...read, ...rest], services);
    expect(JSON.stringify(again).length).toBeLessThan(24_000);
  });

  test("omits the containers of calls, which may have expired", () => {
    const code = { type: "code_interpreter_call", id: "ci_1", code: "1", container_id: "cntr_1" };
    const type = "container_reference";
    const place = { type, container_id: "cntr_1" };
    const shell = { type: "shell_call", call_id: "call_1", environment: place };
    const local = { type: "shell_call", call_id: "call_2", environment: null };
    const item = createCompactionItem([code, shell, local], services);
    expect(openCompactions([item], services)).toEqual([
      { type: "code_interpreter_call", id: "ci_1", code: "1" },
      { ...shell, environment: { type } },
      local,
    ]);
  });
});
