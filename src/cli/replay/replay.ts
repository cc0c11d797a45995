import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { InvalidOptionError } from "../../base/errors.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { readCassette } from "../../testing/cassette/read-cassette.ts";
import { escapeControls } from "../escape-controls.ts";
import { createRunReport } from "./create-run-report.ts";
import { createTest } from "./create-test.ts";
import { formatRun } from "./format-run.ts";

/** Options of `wink replay`. */
export interface ReplayOptions {
  readonly json: boolean;
  /** Whether to write a test instead of printing the run. */
  readonly test: boolean;
  /** Path of the test. @default the cassette's, with the ending `.test.mjs` */
  readonly out?: string | undefined;
  /** The module whose default export runs the agent. @default the test has a placeholder */
  readonly agent?: string | undefined;
}

/** Prints a recorded run, or writes a test that replays it. Executes nothing. */
export async function replay(file: string, options: ReplayOptions): Promise<void> {
  const recording = await readCassette(file);
  const report = createRunReport(file, recording);
  if (options.json) return console.log(JSON.stringify(report, null, 2));
  if (!options.test) {
    for (const line of formatRun(report)) console.log(line);
    return;
  }
  const { agent = null } = options;
  const out = options.out ?? `${file.slice(0, file.length - extname(file).length)}.test.mjs`;
  if (agent !== null && !existsSync(agent)) {
    const remedy = "pass the path of the module whose default export runs the agent";
    throw new InvalidOptionError({
      field: "--agent",
      value: agent,
      rule: "must be an existing file",
      remedy,
    });
  }
  await writeTest(out, createTest({ recording, file, out, agent, answer: report.answer }));
  console.log(`Wrote ${escapeControls(out)}. Run it with node --test ${escapeControls(out)}`);
  if (agent === null)
    console.log("It fails until you import your prompt: pass --agent to use a module.");
}

async function writeTest(out: string, text: string): Promise<void> {
  try {
    await writeFile(out, text, { flag: "wx" });
  } catch (error) {
    const exists = getErrorCode(error) === "EEXIST";
    throw new InvalidOptionError({
      field: "--out",
      value: out,
      rule: exists ? "must be a new file" : "must be a file that can be written",
      remedy: exists
        ? "delete the file, or pass another path"
        : "check the folder and its permissions",
      cause: error,
    });
  }
}
