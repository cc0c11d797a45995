import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Ending } from "../support/claude/crash-main.ts";
import { createTemporaryFolder, useBash } from "../support/claude/exit-fixture.ts";
import { listFolderProcesses } from "../support/claude/folder-processes.ts";
import {
  type MessagesScript,
  startMessagesServer,
  textBlock,
} from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

const main = fileURLToPath(new URL("../support/claude/crash-main.ts", import.meta.url));
const lingering = "setsid sleep 601 & nohup sleep 602 >/dev/null 2>&1 & sleep 600";
const waiting: MessagesScript = [{ content: [useBash(lingering)] }];
const answering: MessagesScript = [
  { content: [useBash("sleep 0.1")] },
  { content: [textBlock("Done.")] },
];

/** Time for a program's processes to end after the program. */
const EXIT_TIMEOUT_MS = 10_000;

/** Starts a program that evaluates a prompt, with its own temporary folder. */
async function startProgram(
  temporary: string,
  { script, ending, isSandboxed = false }: ProgramOptions,
) {
  const server = await startMessagesServer(script);
  onTestFinished(() => server.close());
  const child = spawn(process.execPath, [main, server.url, ending, String(isSandboxed)], {
    env: { PATH: process.env["PATH"], TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  return { child, ended, output: text(child.stdout), errors: text(child.stderr) };
}

interface ProgramOptions {
  readonly script: MessagesScript;
  readonly ending: Ending;
  readonly isSandboxed?: boolean;
}

const listCommands = (temporary: string) =>
  listFolderProcesses(temporary).map(({ command }) => command);

async function expectNoProcesses(temporary: string): Promise<void> {
  await expect.poll(() => listCommands(temporary), { timeout: EXIT_TIMEOUT_MS }).toEqual([]);
}

/** Runs a program to its end, and calls `act` after its command has started. */
async function runToEnd(options: ProgramOptions, act: (child: ChildProcess) => unknown = () => {}) {
  const temporary = createTemporaryFolder();
  const { child, ended, errors } = await startProgram(temporary, options);
  if (options.script === waiting) await waitForCommand(temporary);
  await act(child);
  const end = await ended;
  if (options.ending === "throws") expect(await errors).toContain("SyntaxError");
  await expectNoProcesses(temporary);
  return end;
}

async function waitForCommand(temporary: string): Promise<void> {
  await expect.poll(() => listCommands(temporary)).toContain("sleep 600");
}

/** Runs another program, which removes the previous one's leftovers. */
async function runNext(temporary: string, isSandboxed = false): Promise<void> {
  expect(readdirSync(temporary)).not.toEqual([]);
  const next = await startProgram(temporary, {
    script: answering,
    ending: "answered",
    isSandboxed,
  });
  expect(await next.output).toBe("Done.\n");
  expect(readdirSync(temporary)).toEqual([]);
}

describe.skipIf(sdkMissing)("A program on the real SDK", { timeout: SDK_TIMEOUT }, () => {
  for (const isSandboxed of [true, false]) {
    const where = isSandboxed ? "in its sandbox" : "without a sandbox";
    test(`leaves no processes if it is killed while a command runs ${where}, and the next program cleans up`, async () => {
      const temporary = createTemporaryFolder();
      const options = { script: waiting, ending: "waits", isSandboxed } as const;
      const { child, ended } = await startProgram(temporary, options);
      await waitForCommand(temporary);
      child.kill("SIGKILL");
      expect(await ended).toEqual({ code: null, signal: "SIGKILL" });
      await expectNoProcesses(temporary);
      await runNext(temporary, isSandboxed);
    });
  }

  test("leaves no processes if it ends by a signal, an error or exit()", async () => {
    const requested = Promise.withResolvers<void>();
    const stall: MessagesScript = () => {
      requested.resolve();
      return { stall: true };
    };
    const ends = await Promise.all([
      runToEnd({ script: waiting, ending: "waits" }, (child) => child.kill("SIGINT")),
      runToEnd({ script: waiting, ending: "waits" }, (child) => child.kill("SIGTERM")),
      runToEnd({ script: waiting, ending: "throws" }),
      runToEnd({ script: waiting, ending: "exits" }),
      runToEnd({ script: stall, ending: "waits" }, async (child) => {
        await requested.promise;
        child.kill("SIGKILL");
      }),
    ]);
    expect(ends).toEqual([
      { code: null, signal: "SIGINT" },
      { code: null, signal: "SIGTERM" },
      { code: 1, signal: null },
      { code: 0, signal: null },
      { code: null, signal: "SIGKILL" },
    ]);
  });

  for (const [ending, script, expected] of [
    ["answered", answering, "Done.\n"],
    ["canceled", waiting, "started\nError: I changed my mind\n"],
  ] as const) {
    test(`exits when its evaluation is ${ending}, and leaves nothing`, async () => {
      const temporary = createTemporaryFolder();
      const { child, ended, output } = await startProgram(temporary, { script, ending });
      await waitForOutput(child.stdout, expected.trimEnd().split("\n").at(-1) ?? "");
      const end = await Promise.race([ended, pause(2_000, "it still runs")]);
      expect(end).toEqual({ code: 0, signal: null });
      expect(await output).toBe(expected);
      expect(listCommands(temporary)).toEqual([]);
      expect(readdirSync(temporary)).toEqual([]);
    });
  }
});

/** Waits until a program has printed a text. */
async function waitForOutput(stream: NodeJS.ReadableStream, expected: string): Promise<void> {
  let output = "";
  await new Promise<void>((resolve) => {
    stream.on("data", (chunk) => {
      output += chunk;
      if (output.includes(expected)) resolve();
    });
  });
}
