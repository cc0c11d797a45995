import { describe, expect, test } from "vitest";
import { type CompletingShell, completeLine } from "../../../tests/support/cli/complete-line.ts";
import { hasShell } from "../../../tests/support/cli/has-shell.ts";
import { runWink } from "../../../tests/support/cli/run-wink.ts";
import { silentActions } from "../../../tests/support/cli/silent-actions.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { createProgram } from "../create-program.ts";
import { describeCommand, listCommands } from "./describe-command.ts";
import { formatCompletion, type Shell } from "./format-completion.ts";

const FILES = { "agent.mts": "", "run 1.jsonl": "", "sessions/a": "", "web/b": "" };
const PATHS = ["agent.mts", "run 1.jsonl", "sessions", "web"];
const SHELLS = ["bash", "zsh", "fish"] as const;
const SANDBOXES = ["auto", "bubblewrap", "docker", "podman", "wasm"];

function prepare(shell: Shell): CompletingShell {
  const script = formatCompletion(createProgram("0.0.0", silentActions), shell);
  return { shell, script, folder: temporaryTree(FILES) };
}

describe.each(SHELLS)("wink completion %s", (shell) => {
  test.skipIf(!hasShell(shell)).each([
    ["wink ses", ["sessions"]],
    ["weakincentives ses", ["sessions"]],
    ["wink sessions ", ["export", "ls", "rm", "show"]],
    ["wink sessions r", ["rm"]],
    ["wink unknown ", []],
    ["wink sessions ls --s", ["--schema", "--store"]],
    ["wink sessions ls --json --st", ["--store"]],
    ["wink sessions show nightly --s", ["--schema", "--store"]],
    ["wink sessions show --store sessions ", []],
    ["wink sessions ls --store ", PATHS],
    ["wink sessions ls --store r", ["run 1.jsonl"]],
    ["wink sessions ls --limit ", []],
    ["wink completion ", ["bash", "fish", "zsh"]],
    ["wink completion b", ["bash"]],
    ["wink serve --sandbox ", SANDBOXES],
    ["wink serve --sandbox=b", ["bubblewrap"]],
    ["wink serve --web ", ["sessions", "web"]],
    ["wink fleet retry --state f", ["failed"]],
    ["wink replay a", ["agent.mts"]],
    ["wink replay agent.mts a", []],
    ["wink fleet worker agent.mts ", PATHS],
    ["wink run --sandbox-", ["--sandbox-image"]],
    ["wink run --model agent.mts a", ["agent.mts"]],
    ["wink run agent.mts --", []], // the options of the program
    ["wink run agent.mts a", ["agent.mts"]],
  ])("completes %j", (line, words) => {
    expect(completeLine(prepare(shell), line)).toEqual(words);
  });

  test("prints the script on standard output, and nothing else", async () => {
    const { out, err, code } = await runWink({}, ["completion", shell]);
    expect({ out, err, code }).toEqual({ out: prepare(shell).script, err: "", code: 0 });
  });
});

test("wink completion explains where the script belongs, and refuses other shells", async () => {
  const help = await runWink({}, ["completion", "--help"]);
  expect(help.out).toContain("Examples:\n  wink completion bash");
  for (const place of ["~/.bashrc", "~/.zshrc", "~/.config/fish/config.fish"]) {
    expect(help.out).toContain(place);
  }
  const { err, code } = await runWink({}, ["completion", "powershell"]);
  expect(err).toContain("Allowed choices are bash, zsh, fish.");
  expect(code).toBe(2);
});

/** Values without a completion. A new name belongs here, or into the kinds of `describe-command.ts`. */
const OTHER_VALUES = [
  ...["address", "glob", "group", "id", "ids", "key", "name", "number", "origin", "run"],
  ...["seconds", "text", "url", "worker"],
];

test("every value has a completion, or is known to have none", () => {
  const commands = listCommands(describeCommand(createProgram("0.0.0", silentActions)));
  const values = commands.flatMap(({ options, args }) => [
    ...options.flatMap(({ value }) => value ?? []),
    ...args.map(({ value }) => value),
  ]);
  const others = new Set(values.filter(({ kind }) => kind === "any").map(({ name }) => name));
  expect([...others].filter((name) => !OTHER_VALUES.includes(name))).toEqual([]);
});

test("describes a command with everything that a script needs", () => {
  const program = describeCommand(createProgram("0.0.0", silentActions));
  const run = listCommands(program).find(({ path }) => path === "wink run");
  expect(run).toMatchObject({
    name: "run",
    args: [
      { value: { name: "file", kind: "file" }, isVariadic: false },
      { value: { name: "args", kind: "passed" }, isVariadic: true },
    ],
  });
  expect(run?.options).toContainEqual({
    flags: ["--sandbox"],
    description: expect.stringContaining("sandbox for code"),
    value: {
      name: "name",
      kind: "choices",
      choices: [...SANDBOXES.slice(0, 2), "podman", "docker", "wasm"],
    },
  });
});
