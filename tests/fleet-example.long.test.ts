import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { listExamples } from "../scripts/examples/list-examples.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const useSources = new URL("support/agents/use-sources.ts", import.meta.url).href;
const postgres = process.env["WINK_POSTGRES"];

/** Runs examples/fleet.ts on the sources. Returns its output and the expected lines. */
async function runExample(env: NodeJS.ProcessEnv) {
  const [example] = listExamples(root).filter(({ path }) => path === "examples/fleet.ts");
  const { PATH, HOME } = process.env;
  const args = ["--import", useSources, "examples/fleet.ts"];
  const { stdout, stderr } = await run(process.execPath, args, {
    cwd: root,
    env: { PATH, HOME, ...env },
  });
  return { printed: stdout.trimEnd().split("\n"), stderr, expected: example?.prints };
}

describe("examples/fleet.ts", () => {
  test("finishes every review once in a folder, where the process with all workers is killed", async () => {
    const { printed, stderr, expected } = await runExample({});
    expect({ printed, stderr }).toEqual({ printed: expected, stderr: "" });
  }, 120_000);

  test("finishes every review once on PostgreSQL, where one of three processes is killed", async ({
    skip,
  }) => {
    if (postgres === undefined) skip("needs PostgreSQL: see scripts/with-postgres.ts");
    const { printed, stderr, expected } = await runExample({ WINK_POSTGRES: postgres });
    expect({ printed, stderr }).toEqual({ printed: expected, stderr: "" });
  }, 120_000);
});
