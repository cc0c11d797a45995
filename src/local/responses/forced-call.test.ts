import { describe, expect, it } from "vitest";
import { builtInCatalog } from "../tools/index.ts";
import { type ForcedRequest, findForcedCall } from "./forced-call.ts";

const forcedBlock = (request: ForcedRequest) =>
  findForcedCall(request, builtInCatalog)?.args["code"] ?? null;

const choice = { type: "code_interpreter" };
const said = (content: string, role = "user") => [{ type: "message", role, content }];
const block = (code: string) => `Run this:\n\n\`\`\`python\n${code}\n\`\`\``;

describe("a forced block", () => {
  it("is the only Python block of the last message, when the interpreter is forced", () => {
    const code = 'print("a")\nprint("b")';
    expect(forcedBlock({ items: said(block(code)), toolChoice: choice })).toBe(code);
    expect(forcedBlock({ items: said(`${block("1")}\nThanks.`), toolChoice: choice })).toBe("1");
  });

  it.each([
    ["nothing is forced", said(block("1")), "auto"],
    ["another tool is forced", said(block("1")), { type: "shell" }],
    ["there are two blocks", said(`${block("1")}\n${block("2")}`), choice],
    ["there is none", said("print(1)"), choice],
    ["it is in another language", said("```js\n1\n```"), choice],
    ["the last message is not the user's", said(block("1"), "system"), choice],
    ["there is no message", [], choice],
  ])("is none where %s", (_case, items, toolChoice) => {
    expect(forcedBlock({ items, toolChoice })).toBeNull();
  });
});
