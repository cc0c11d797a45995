import { describe, expect, it } from "vitest";
import { builtInCatalog } from "../tools/index.ts";
import { type ForcedRequest, findForcedCall } from "./forced-call.ts";

const findForcedCode = (request: ForcedRequest) =>
  findForcedCall(request, builtInCatalog)?.args["code"] ?? null;

const choice = { type: "code_interpreter" };
const createMessages = (content: string, role = "user") => [{ type: "message", role, content }];
const createBlock = (code: string) => `Run this:\n\n\`\`\`python\n${code}\n\`\`\``;

describe("findForcedCall()", () => {
  it("returns the only Python block of the last message if the code interpreter is forced", () => {
    const code = 'print("a")\nprint("b")';
    expect(findForcedCode({ items: createMessages(createBlock(code)), toolChoice: choice })).toBe(
      code,
    );
    expect(
      findForcedCode({ items: createMessages(`${createBlock("1")}\nThanks.`), toolChoice: choice }),
    ).toBe("1");
  });

  it.each([
    ["no tool is forced", createMessages(createBlock("1")), "auto"],
    ["another tool is forced", createMessages(createBlock("1")), { type: "shell" }],
    ["there are two blocks", createMessages(`${createBlock("1")}\n${createBlock("2")}`), choice],
    ["the message has no block", createMessages("print(1)"), choice],
    ["the block is in another language", createMessages("```js\n1\n```"), choice],
    ["the last message is not the user's", createMessages(createBlock("1"), "system"), choice],
    ["the request has no message", [], choice],
  ])("returns null if %s", (_case, items, toolChoice) => {
    expect(findForcedCode({ items, toolChoice })).toBeNull();
  });
});
