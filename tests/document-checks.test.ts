import { describe, expect, test } from "vitest";
import {
  type CommandContext,
  checkInlineCommands,
  checkShellBlocks,
} from "./support/documents/check-commands.ts";
import { checkFences } from "./support/documents/check-fences.ts";
import { checkLinks, checkPublishedLinks } from "./support/documents/check-links.ts";
import { parsePage, toSlug } from "./support/documents/parse-page.ts";
import { parseShell } from "./support/documents/parse-shell.ts";
import type { Repository } from "./support/documents/repository.ts";

const files: Readonly<Record<string, string>> = {
  "README.md": "# Title\n## A part\n## A part\n",
  "docs/guides/tools.md": "# Tools\n",
  "examples/rollback.ts": 'console.log("rolled back");\n',
  "package.json": '{ "scripts": { "demo": "node demo.ts" } }',
};
const repository: Repository = {
  files: new Set(Object.keys(files)),
  published: new Set(["README.md"]),
  pages: new Map(
    ["README.md", "docs/guides/tools.md"].map((path) => [path, parsePage(path, files[path] ?? "")]),
  ),
  read: (path) => files[path] ?? "",
};
const context: CommandContext = {
  repository,
  packages: new Set(["weakincentives", "zod"]),
  programs: new Set(["vitest"]),
  variables: new Set(["OPENAI_API_KEY"]),
};
const page = (text: string) => parsePage("docs/page.md", text);
const links = (text: string) => checkLinks(page(text), repository);
const fences = (text: string) => checkFences(page(text), new Set(['console.log("hello");\n']));
const shell = (text: string) => checkShellBlocks(page(`\`\`\`sh\n${text}\n\`\`\`\n`), context);
const inline = (text: string) => checkInlineCommands(page(`Run \`${text}\`.`), context);

describe("checkLinks()", () => {
  test.each([
    ["[a](missing.md)", "docs/page.md:1: docs/missing.md does not exist"],
    ["one\n\n[a](guides/tools.md#nothing)", ":3: docs/guides/tools.md has no anchor #nothing"],
    ["# Here\n[a](#there)", ":2: docs/page.md has no anchor #there"],
    ["[a](../README.md#a-part-2)", "README.md has no anchor #a-part-2"],
    ["[a](../../outside.md)", "leaves the repository"],
    ["[a](/README.md)", "leaves the repository"],
    ["[a](http://example.com)", "http://example.com must begin with https:"],
    ["<http://example.com>", "must begin with https:"],
    ["[a](https://)", "https:// is not an address"],
    ['<a href="missing.md">a</a>', "docs/missing.md does not exist"],
    ["[a][label]", "the link label [label] has no definition"],
    ["[a][label]\n\n[label]: missing.md", "docs/missing.md does not exist"],
    ["[`code`](missing.md)", "docs/missing.md does not exist"],
    ["[a](../package.json#scripts)", "package.json is not a page"],
  ])("reports %j", (text, problem) => {
    const pages = new Map([...repository.pages, ["docs/page.md", page(text)]]);
    const problems = checkLinks(page(text), {
      ...repository,
      pages,
      files: new Set([...repository.files, "docs/page.md"]),
    });
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  test("accepts files, folders, anchors, repeated headings and https", () => {
    const text = `[a](guides/tools.md) [a](guides/) [a](../examples) [a](../README.md#a-part-1)
      [a](guides/tools.md#tools) [a](https://example.com) [a](http://localhost:8484)
      \`[a](missing.md)\`
\`\`\`text
[a](missing.md)
\`\`\``;
    expect(links(text)).toEqual([]);
  });
});

test("checkPublishedLinks() reports a link to a file that is not published", () => {
  const published = new Set(["README.md", "docs/page.md"]);
  const text = page("[a](../README.md)\n[a](guides/tools.md)");
  expect(checkPublishedLinks(text, published)).toEqual([
    "docs/page.md:2: docs/guides/tools.md is not in the package",
  ]);
  expect(checkPublishedLinks(text, published, ["docs/guides/"])).toEqual([]);
  expect(checkPublishedLinks(text, new Set(["README.md"]))).toEqual([]);
});

test.each([
  ["A part", "a-part"],
  ["`wink run`: how it works", "wink-run-how-it-works"],
  ["Who's first? *You*, _I_ & 2 others", "whos-first-you-i--2-others"],
  ["snake_case in `max_tokens`", "snake_case-in-max_tokens"],
  ["A [link](page.md) – a dash", "a-link--a-dash"],
  ["`Map<string>` and 1.2.3", "mapstring-and-123"],
])("toSlug() writes the anchor of %j as GitHub does", (heading, anchor) => {
  expect(toSlug(heading)).toBe(anchor);
});

describe("checkFences()", () => {
  test.each([
    ["```\ntext\n```", "the language of the code block is none"],
    ["```console\ntext\n```", "the language of the code block is console"],
    ["```text\nnever closed", "the code block is not closed"],
    ['```ts\nconsole.log("bye");\n```', "the program is not, byte for byte, a file of examples"],
    ["```json\n{ a: 1 }\n```", "the JSON does not parse"],
    ["```js\nconst a: number = 1;\n```", "the JavaScript does not parse: SyntaxError"],
    ["```sh\n$ npm test\n```", "the commands begin with a prompt"],
    ["```sh\necho 'one\n```", "the commands do not parse"],
  ])("reports %j", (text, problem) => {
    expect(fences(text)).toEqual([expect.stringContaining(`docs/page.md:1: ${problem}`)]);
  });

  test("accepts an example, in a list too, and code that parses", () => {
    const text = `
\`\`\`ts
console.log("hello");
\`\`\`
- a list

  \`\`\`json
  { "a": 1 }
  \`\`\`

\`\`\`js
export default await Promise.resolve(1);
\`\`\`
\`\`\`text
anything
\`\`\``;
    expect(fences(text)).toEqual([]);
  });
});

describe("checkShellBlocks()", () => {
  test.each([
    ["npm run nothing", 'package.json has no script "nothing"'],
    ["npm publish", "npm publish is not a command that pages may use"],
    ["npm install zood", "zood is not a package that this project uses"],
    ["npm ci --prefix tests/nothing", "tests/nothing/package.json does not exist"],
    ["wink sing", "error: unknown command 'sing'"],
    ["npx wink serve --prot 1", "error: unknown option '--prot'"],
    ["wink serve --port", "error: option '--port <number>' argument missing"],
    ["wink serve --port many", "Use an integer from 0 to 65535."],
    ["wink serve --sandbox chroot", "Allowed choices are"],
    ["wink mount", "error: missing required argument 'path'"],
    ["node src/cli/main.ts serve --prot 1", "error: unknown option '--prot'"],
    ["npx nothing", "npx does not find nothing"],
    ["node agent.mts", "agent.mts does not exist, and the page does not show its content"],
    ["cp node_modules/weakincentives/x.ts x.mts", "weakincentives/x.ts does not exist"],
    ["echo 1 && rimraf /", "rimraf is not one of the programs that pages may use"],
    ["cat $(find . -name x)", "find is not one of the programs that pages may use"],
    ["OPENAI_APY_KEY=x npm test", "nothing reads the variable OPENAI_APY_KEY"],
    ["export OPENAI_APY_KEY=x", "nothing reads the variable OPENAI_APY_KEY"],
  ])("reports %j", (text, problem) => {
    const problems = shell(text).filter((line) => !line.includes("src/cli/main.ts does not exist"));
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  test("names the line of a command after the first", () => {
    expect(shell("npm test\n\nnpm test \\\n  -- x\nwink sing")).toEqual([
      expect.stringMatching(/^docs\/page\.md:6: /),
    ]);
  });

  test("accepts commands that exist and files that the page names", () => {
    const text = `Save it as \`agent.mts\`.
\`\`\`sh
npm install weakincentives@latest zod && npm run demo # a comment
OPENAI_API_KEY=local node agent.mts | head -n 1
npx wink serve --port 0 --json > provider.json & # in the background
until [ -s provider.json ]; do sleep 0.1; done
npx vitest run; node examples/rollback.ts
cp node_modules/weakincentives/README.md notes.json && cat notes.json
\`\`\``;
    expect(checkShellBlocks(page(text), context)).toEqual([]);
  });
});

describe("checkInlineCommands()", () => {
  test.each([
    ["wink sing", 'wink has no command "sing"'],
    ["npx wink serve --prot", "wink serve has no option --prot"],
    ["npm run nothing", 'package.json has no script "nothing"'],
    ["node scripts/nothing.ts --list", "scripts/nothing.ts does not exist"],
  ])("reports %j", (text, problem) => {
    expect(inline(text)).toEqual([`docs/page.md:1: ${problem}`]);
  });

  test.each([
    "wink",
    "wink --help",
    "wink serve --upstream",
    "wink mount PATH",
    "wink <command>",
    "npm run demo -- --json",
    "npm run …",
    "node examples/rollback.ts",
    "node --test",
    "some words",
  ])("accepts %j", (text) => {
    expect(inline(text)).toEqual([]);
  });
});

test("parseShell() finds the commands of lists, pipes, redirections and substitutions", () => {
  const script = `A=1 B="x y" one 'a b' "c d" \\
  e 2>&1 | two > out.txt && three $(four "$HOME") # five
until [ -s out.txt ]; do six; done
export C=1`;
  expect(parseShell(script)).toEqual([
    { words: ["one", "a b", "c d", "e"], assigned: ["A", "B"], written: [], line: 1 },
    { words: ["two"], assigned: [], written: ["out.txt"], line: 2 },
    { words: ["four", "$HOME"], assigned: [], written: [], line: 2 },
    { words: ["three", "$()"], assigned: [], written: [], line: 2 },
    { words: ["[", "-s", "out.txt", "]"], assigned: [], written: [], line: 3 },
    { words: ["six"], assigned: [], written: [], line: 3 },
    { words: [], assigned: ["C"], written: [], line: 4 },
  ]);
});
