import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { describe, expect, test, vi } from "vitest";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { conversationCases } from "./support/live/conversation-cases.ts";
import { liveCosts } from "./support/live/expected-cost.ts";

describe("The live tests of roles and streams run on the local provider:", () => {
  test.each(conversationCases)("$name", async ({ script, run }) => {
    await using provider = new LocalProvider({ model: scriptedModel(script) });
    const { url } = await provider.listen();
    vi.stubEnv("OPENAI_BASE_URL", url);
    vi.stubEnv("OPENAI_API_KEY", "local");
    try {
      await run({ model: "gpt-5.2" });
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe("npm run test:live", () => {
  const readProjectFile = (path: string) =>
    readFile(new URL(`../${path}`, import.meta.url), "utf8");
  const printCost = (env: NodeJS.ProcessEnv) =>
    execFileSync(process.execPath, ["tests/support/live/print-expected-cost.ts"], {
      encoding: "utf8",
      env,
    });

  test("prints the expected cost before the tests, also without a key", async () => {
    const { scripts } = JSON.parse(await readProjectFile("package.json"));
    expect(scripts["test:live"]).toMatch(/^node tests\/support\/live\/print-expected-cost\.ts && /);
    const printed = printCost({});
    expect(printed).toMatch(/^Expected cost of the live tests with gpt-5\.2, at prices of 20/);
    expect(printed).toContain("| generates an image | 1 | 1000 | 300 | 0.026 |");
    const [, total] = /^\| together \| \d+ \| \d+ \| \d+ \| (\d\.\d{3}) \|$/m.exec(printed) ?? [];
    const rows = [...printed.matchAll(/\| (\d\.\d{3}) \|$/gm)].map(([, usd]) => Number(usd));
    const sum = rows.slice(0, -1).reduce((one, other) => one + other, 0);
    expect(Math.abs(sum - Number(total))).toBeLessThan(0.01);
  });

  test("prints tokens and no price for a model that is not in the price table", () => {
    const printed = printCost({ WINK_LIVE_MODEL: "heron-1" });
    expect(printed).toContain("| generates an image | 1 | 1000 | 300 | ? |");
    expect(printed).toContain("The price of heron-1 is unknown");
  });

  test("prints a row for every live test", async () => {
    const source = await readProjectFile("tests/live/openai.live.test.ts");
    const titles = [...source.matchAll(/\btest(?:\.skipIf\([^)]*\))?\("([^"]+)"/g)];
    expect(titles.length).toBeGreaterThan(5);
    const names = [
      ...titles.map(([, title]) => title),
      ...conversationCases.map(({ name }) => name),
    ];
    expect(liveCosts.map(({ name }) => name).sort()).toEqual(names.sort());
  });
});
