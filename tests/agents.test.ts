import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runAgent } from "./support/agents/start-agent.ts";

describe.each(readdirSync(new URL("../examples/agents/", import.meta.url)))("agent %s", (name) => {
  test.concurrent("exits with 2 and prints its usage for an unknown flag", async () => {
    const { status, stdout, stderr, leftovers } = await runAgent(name, ["--folder", "x"]);
    expect({ status, stdout, leftovers }).toEqual({ status: 2, stdout: "", leftovers: [] });
    expect(stderr).toMatch(/^Unknown option '--folder'.*\nUsage: node main\.ts /);
  });
});
