import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { estimateRatio } from "../bench/estimate-ratio.ts";
import { checkRatios } from "../bench/guard/check-ratios.ts";
import { type Ratios, RECORDED_FILE, readRecorded } from "../bench/guard/recorded-ratios.ts";
import { median } from "../bench/median.ts";
import { ROWS } from "../bench/peers/rows.ts";
import { compareSides, createValue } from "../bench/report/figure.ts";
import { renderResults } from "../bench/report/render-results.ts";

const guarded = ROWS.filter(({ isGuarded }) => isGuarded);

/** Creates ratios of all guarded rows: 1, or the given ones. */
function createRatios(others: Ratios = {}): Ratios {
  return { ...Object.fromEntries(guarded.map(({ metric }) => [metric, 1])), ...others };
}

describe("npm run bench:check", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "wink-bench-check-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs the check with measurements from a file. */
  async function check(recorded: Ratios, measured: Ratios, ...flags: readonly string[]) {
    const [recordedFile, measuredFile] = [
      join(folder, "recorded.json"),
      join(folder, "measured.json"),
    ];
    await writeFile(recordedFile, JSON.stringify({ ratios: recorded }));
    await writeFile(measuredFile, JSON.stringify(measured));
    const program = fileURLToPath(new URL("../bench/check.ts", import.meta.url));
    const args = [program, "--recorded", recordedFile, "--measured", measuredFile, ...flags];
    return await new Promise<{ code: unknown; errors: string }>((resolve) => {
      execFile(process.execPath, args, (error, _output, errors) => {
        resolve({ code: error?.code ?? 0, errors });
      });
    });
  }

  test("fails on a row that is more than 15 % worse than recorded, and names it with a remedy", async () => {
    const { code, errors } = await check(createRatios({ loop50: 0.86 }), createRatios());
    expect(code).toBe(1);
    expect(errors.trim()).toBe(
      '"loop 50: 50 requests, a call in each" is 16 % worse than recorded (at most 15 %): 0.86x was recorded, 1.00x was measured. ' +
        "Find the commit that made it slower. If the cost is intended, record again with `npm run bench` and explain it in the commit.",
    );
  });

  test("passes if every row is at most 15 % worse than recorded, or better", async () => {
    const recorded = createRatios({ loop50: 0.88, text: 3 });
    expect(await check(recorded, createRatios())).toEqual({ code: 0, errors: "" });
  });

  test("with --short, fails only on a row that is more than 30 % worse than recorded", async () => {
    expect(await check(createRatios({ text: 0.78 }), createRatios(), "--short")).toMatchObject({
      code: 0,
    });
    expect(await check(createRatios({ text: 0.76 }), createRatios(), "--short")).toMatchObject({
      code: 1,
    });
  });

  test("fails on a row that was never recorded", async () => {
    const { text: _, ...recorded } = createRatios();
    const { code, errors } = await check(recorded, createRatios());
    expect(code).toBe(1);
    expect(errors).toContain("has no recorded ratio. Record it with `npm run bench`.");
  });

  test("fails on a row that was not measured", async () => {
    const { text: _, ...measured } = createRatios();
    expect(await check(createRatios(), measured)).toMatchObject({ code: 1 });
  });
});

describe("checkRatios()", () => {
  const rules = { tolerance: 0.15, attempts: 3 };

  test("measures only failed rows again, and counts their best attempt", async () => {
    const attempts = [{ text: 2, loop50: 1 }, { text: 1.1 }, { text: 5 }];
    const measured: string[][] = [];
    const checked = await checkRatios(guarded, createRatios(), rules, async (metrics) => {
      measured.push([...metrics]);
      return createRatios(attempts[measured.length - 1]);
    });
    expect(measured).toEqual([guarded.map(({ metric }) => metric), ["text"]]);
    expect(checked.every(({ isPassed }) => isPassed)).toBe(true);
    expect(checked.find(({ row }) => row.metric === "text")).toMatchObject({ measured: 1.1 });
  });

  test("gives up after the last attempt", async () => {
    const worse = async () => createRatios({ text: 2 });
    const checked = await checkRatios(guarded, createRatios(), rules, worse);
    expect(checked.filter(({ isPassed }) => !isPassed).map(({ row }) => row.metric)).toEqual([
      "text",
    ]);
  });
});

describe("bench/recorded.json", () => {
  test("has a ratio for every guarded row", () => {
    const metrics = Object.keys(readRecorded(RECORDED_FILE)).sort();
    expect(metrics).toEqual(guarded.map(({ metric }) => metric).sort());
  });

  test("guards only costs, where lower is better", () => {
    expect(guarded.filter(({ isAtLeast }) => isAtLeast)).toEqual([]);
  });
});

describe("estimateRatio()", () => {
  test("is the ratio of the sides if all rounds agree", () => {
    expect(
      estimateRatio([
        { ours: 2, reference: 4 },
        { ours: 3, reference: 6 },
      ]),
    ).toBe(0.5);
  });

  test("is hardly moved by an outlier", () => {
    const rounds = Array.from({ length: 15 }, () => ({ ours: 1, reference: 1 }));
    expect(estimateRatio([...rounds, { ours: 100, reference: 1 }])).toBe(1);
  });
});

test("median() is the middle value, or the mean of the two middle values", () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
});

describe("renderResults()", () => {
  const machine = { date: "2026-11-18", node: "v24.21.0", processors: "2 x Example" };
  const ratios = { text: 0.9, throughput: 0.5 };
  const page = renderResults({
    machine,
    seconds: 12,
    loads: [0.5, 1.25],
    runs: [
      {
        part: { name: "wire", title: "Requests", program: "wire.ts" },
        seconds: 5,
        failure: "",
        result: {
          figures: [
            {
              ...compareSides({ what: "one answer", unit: "µs", goal: 0.8 }, [
                { ours: 90, reference: 100 },
              ]),
              metric: "text",
            },
            {
              ...compareSides({ what: "throughput", unit: "/s", goal: 2, isAtLeast: true }, [
                { ours: 500, reference: 200 },
              ]),
              metric: "throughput",
            },
          ],
          clients: [{ name: "weakincentives, buffered", values: {}, ratios: { text: 0.7 } }],
        },
      },
      {
        part: { name: "peers", title: "Other SDKs", program: "peers.ts" },
        seconds: 5,
        failure: "",
        result: {
          figures: [],
          clients: [
            { name: "raw-http", values: {}, ratios: { text: 0.1, throughput: 9 } },
            { name: "one", values: {}, ratios: { text: 2, throughput: 0.4 } },
            { name: "other", values: {}, ratios: { ...ratios, text: 3 } },
          ],
        },
      },
      {
        part: { name: "pack", title: "Packing", program: "pack.ts" },
        seconds: 2,
        failure: "",
        result: { figures: [createValue({ what: "stall", unit: "ms", goal: 20 }, 30.25)] },
      },
      {
        part: { name: "local", title: "Local", program: "local.ts" },
        seconds: 1,
        failure: "It broke.",
        result: null,
      },
    ],
  });

  test("names date, machine, Node and load", () => {
    expect(page).toContain("on 2026-11-18 with Node 24.21.0, 2 x Example, in 12 s");
    expect(page).toContain("was 0.5 before and 1.3 after");
  });

  test("has the rows with the buffered ratio, the best peer, the goal and the verdict", () => {
    expect(page).toContain(
      "| one answer | 90 µs | 100 µs | 0.90x | 0.70x | 2.00x one | 0.80x | missed |",
    );
    expect(page).toContain(
      "| throughput | 500/s | 200/s | 2.50x |  | 0.50x other | ≥ 2.00x | met |",
    );
  });

  test("has the tables of the parts, and the error of a failed part", () => {
    expect(page).toContain("| stall | 30.3 ms |  |  | 20 ms | missed |");
    expect(page).toContain("Part `local`, 1 s. It failed:\n\n```text\nIt broke.\n```");
  });
});
