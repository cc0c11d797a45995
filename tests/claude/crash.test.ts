import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Ending } from "../support/claude/crash-main.ts";
import { bash, ownTemporaryFolder } from "../support/claude/ending-stage.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { processesAbout } from "../support/claude/left-behind.ts";
import { type MessagesScript, messagesServer, say } from "../support/claude/messages-server.ts";

const main = fileURLToPath(new URL("../support/claude/crash-main.ts", import.meta.url));
const stubborn = "setsid sleep 601 & nohup sleep 602 >/dev/null 2>&1 & sleep 600";
const waiting: MessagesScript = [{ content: [bash(stubborn)] }];
const answering: MessagesScript = [{ content: [bash("sleep 0.1")] }, { content: [say("Done.")] }];

/** How long what a program has started may outlive it. */
const LAST_MOMENTS_MS = 10_000;

/** A program of its own that evaluates a prompt, with a temporary folder that only its runs use. */
async function program(temporary: string, { script, ending, isSandboxed = false }: ProgramOptions) {
  const server = await messagesServer(script);
  onTestFinished(() => server.close());
  const child = spawn(process.execPath, [main, server.url, ending, String(isSandboxed)], {
    env: { PATH: process.env["PATH"], TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  return { child, ended, said: text(child.stdout), complaint: text(child.stderr) };
}

interface ProgramOptions {
  readonly script: MessagesScript;
  readonly ending: Ending;
  readonly isSandboxed?: boolean;
}

const commands = (temporary: string) => processesAbout(temporary).map(({ command }) => command);

async function expectNobodyLeft(temporary: string): Promise<void> {
  await expect.poll(() => commands(temporary), { timeout: LAST_MOMENTS_MS }).toEqual([]);
}

/** How a program ends, by itself or by what is done to it once its command runs. */
async function endOf(given: ProgramOptions, act: (child: ChildProcess) => unknown = () => {}) {
  const temporary = ownTemporaryFolder();
  const { child, ended, complaint } = await program(temporary, given);
  if (given.script === waiting) await commandBegun(temporary);
  await act(child);
  const end = await ended;
  if (given.ending === "throws") expect(await complaint).toContain("SyntaxError");
  await expectNobodyLeft(temporary);
  return end;
}

async function commandBegun(temporary: string): Promise<void> {
  await expect.poll(() => commands(temporary)).toContain("sleep 600");
}

/** It removes what the one before it could not. */
async function runNext(temporary: string, isSandboxed = false): Promise<void> {
  expect(readdirSync(temporary)).not.toEqual([]);
  const next = await program(temporary, { script: answering, ending: "answered", isSandboxed });
  expect(await next.said).toBe("Done.\n");
  expect(readdirSync(temporary)).toEqual([]);
}

describe.skipIf(sdkMissing)("A program that runs the real SDK", { timeout: SDK_TIMEOUT }, () => {
  for (const isSandboxed of [true, false]) {
    const where = isSandboxed ? "in its sandbox" : "without a sandbox";
    test(`may be killed while a command runs ${where}: all ends, and the next one tidies up`, async () => {
      const temporary = ownTemporaryFolder();
      const given = { script: waiting, ending: "waits", isSandboxed } as const;
      const { child, ended } = await program(temporary, given);
      await commandBegun(temporary);
      child.kill("SIGKILL");
      expect(await ended).toEqual({ code: null, signal: "SIGKILL" });
      await expectNobodyLeft(temporary);
      await runNext(temporary, isSandboxed);
    });
  }

  test("may end in any other way: all that it has started ends with it", async () => {
    const asked = Promise.withResolvers<void>();
    const stalling: MessagesScript = () => {
      asked.resolve();
      return { stall: true };
    };
    const ends = await Promise.all([
      endOf({ script: waiting, ending: "waits" }, (child) => child.kill("SIGINT")),
      endOf({ script: waiting, ending: "waits" }, (child) => child.kill("SIGTERM")),
      endOf({ script: waiting, ending: "throws" }),
      endOf({ script: waiting, ending: "exits" }),
      endOf({ script: stalling, ending: "waits" }, async (child) => {
        await asked.promise;
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

  for (const [ending, script, words] of [
    ["answered", answering, "Done.\n"],
    ["cancelled", waiting, "begun\nError: I changed my mind\n"],
  ] as const) {
    test(`ends by itself when its evaluation is ${ending}, and has left nothing`, async () => {
      const temporary = ownTemporaryFolder();
      const { child, ended, said } = await program(temporary, { script, ending });
      await until(child.stdout, words.trimEnd().split("\n").at(-1) ?? "");
      const end = await Promise.race([ended, pause(2_000, "it still runs")]);
      expect(end).toEqual({ code: 0, signal: null });
      expect(await said).toBe(words);
      expect(commands(temporary)).toEqual([]);
      expect(readdirSync(temporary)).toEqual([]);
    });
  }
});

/** Until a program has said these words. */
async function until(stream: NodeJS.ReadableStream, words: string): Promise<void> {
  let said = "";
  await new Promise<void>((resolve) => {
    stream.on("data", (chunk) => {
      said += chunk;
      if (said.includes(words)) resolve();
    });
  });
}
