import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { SentMessages } from "./sent-messages.ts";

const hash = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex");

describe("the report of messages to the Claude Agent SDK", () => {
  test("is empty without messages", () => {
    expect(new SentMessages().close()()).toEqual({ requests: [], verdict: "nothing stored" });
  });

  test("has each message with the outputs of the prompt's tools and of the SDK's own tools", () => {
    const sent = new SentMessages();
    sent.add([{ type: "text", text: "Grüße" }]);
    sent.addNativeCalls(["toolu_1"]);
    sent.addNativeCalls(["toolu_2"]);
    sent.add([["toolu_3", { text: "Seen." }]], ["toolu_3"]);
    const request = { endpoint: "claude-agent-sdk", stored: false, files: [] };
    const first = [{ type: "text", text: "Grüße" }];
    const second = [["toolu_3", { text: "Seen." }]];
    expect(sent.close()()).toEqual({
      requests: [
        {
          ...request,
          ...{ bytes: Buffer.byteLength(JSON.stringify(first)), sha256: hash(first) },
          toolOutputs: [],
        },
        {
          ...request,
          ...{ bytes: JSON.stringify(second).length, sha256: hash(second) },
          toolOutputs: ["toolu_1", "toolu_2", "toolu_3"],
        },
      ],
      verdict: "nothing stored",
    });
  });

  test("has a last entry for outputs of the SDK's own tools that no message followed", () => {
    const sent = new SentMessages();
    sent.add(["Go."]);
    sent.addNativeCalls(["toolu_1"]);
    const { requests } = sent.close()();
    expect(requests.map(({ toolOutputs }) => toolOutputs)).toEqual([[], ["toolu_1"]]);
  });
});
