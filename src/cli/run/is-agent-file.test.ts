import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { hasDefaultExport, isAgentFile } from "./is-agent-file.ts";

describe("hasDefaultExport()", () => {
  test.each([
    "export default agent;",
    "const a = 1;\n  export default\n  definePrompt({});",
    "export default class {}",
    "const a=1;export default a",
    "const agent = 1;\nexport { agent as default };",
    "export { one, agent as default, two } from './other.mjs';",
    'export { default } from "./agent.mjs";',
    'export {\n  // the agent\n  agent as default,\n} from "./agent.mjs";',
    "const quote = /[\"'`]/;\nexport default agent;",
    "const fence = text.split(/```/);\nexport default agent;",
    "const half = width / 2; // `half\nexport default agent;",
    "const it = `a $" + "{list.map((one) => `- $" + "{one}`)} b`;\nexport default agent;",
    "const it = 'don\\'t';\n/* it's */ export default agent;",
    "#!/usr/bin/env node\nexport default agent;",
  ])("is true for %j", (source) => {
    expect(hasDefaultExport(source)).toBe(true);
  });

  test.each([
    "",
    "const agent = 1;\nexport { agent };",
    "// export default agent;",
    "/*\nexport default agent;\n*/",
    "const text = `\nexport default agent;\n`;",
    "const text = 'export default agent;';",
    'export { default as agent } from "./agent.mjs";',
    "export const defaultAgent = 1;",
    "module.exports = agent;",
    "const rule = /export default/;",
    "export { defaults };\nconst value = { a: 1 } as default_;",
  ])("is false for %j", (source) => {
    expect(hasDefaultExport(source)).toBe(false);
  });
});

test("only modules with a default export are agents", () => {
  const folder = temporaryTree({
    "agent.mts": "export default 1;",
    "agent.txt": "export default 1;",
    "program.mjs": "console.log(1);",
    "folder.ts": null,
  });
  const names = ["agent.mts", "agent.txt", "program.mjs", "folder.ts", "missing.mts", "python3"];
  expect(names.filter((name) => isAgentFile(join(folder, name)))).toEqual(["agent.mts"]);
});
