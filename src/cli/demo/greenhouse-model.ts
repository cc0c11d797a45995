import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { filterByType, readRecords, readString } from "../../base/json.ts";
import type { ModelAction } from "../../local/model-action.ts";
import type { LocalModel } from "../../local/models/local-model.ts";
import { scriptedModel } from "../../local/models/scripted-model.ts";
import { LOG } from "./greenhouse.ts";

const WEATHER = "weather.example/leiden.html";

const PAGES: Readonly<Record<string, string>> = {
  [WEATHER]: createPage(
    "Leiden tonight",
    "Weather in Leiden: clear, 14 °C by midnight, a light breeze.",
  ),
  "weather.example/delft.html": createPage(
    "Delft tonight",
    "Weather in Delft: rain until the morning.",
  ),
  "gossip.example/leiden.html": createPage(
    "Leiden weather tonight",
    "Weather tonight: snow, surely!",
  ),
};

function createPage(title: string, text: string): string {
  return `<!doctype html><title>${title}</title><h1>${title}</h1><p>${text}</p>\n`;
}

/** Writes the pages of the demo's web. */
export async function writeWebPages(folder: string): Promise<void> {
  for (const [path, html] of Object.entries(PAGES)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), html);
  }
}

// Runs the greenhouse's own code on its readings. `percents` stays in the interpreter's memory.
const REVIEW = `
import csv, json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "/mnt/data/greenhouse")
import vents

rows = list(csv.DictReader(open("/mnt/data/greenhouse/readings.csv")))
warmest = json.load(open("/mnt/data/greenhouse/limits.json"))["warmest"]
percents = [vents.opening(float(row["inside"]), warmest) for row in rows]
wrong = [percent for percent in percents if not 0 <= percent <= 100]
print(f"{len(rows)} readings, {rows[-1]['inside']} °C now, {warmest} °C at most")
print(f"{len(wrong)} of {len(rows)} times vents.py requests an impossible opening: {wrong}")
print(f"now it requests {percents[-1]} %")
`;

const AGAIN = `
print("percents is", "still in memory" if "percents" in globals() else "lost with the old container")
${REVIEW.trim()}
`;

// Uses variables of earlier code: a container keeps its interpreter until it expires.
const PLAN = `
print(open("/mnt/data/${LOG}").read().splitlines()[2])
warmth, outside = float(rows[-1]["inside"]), 14
with open("/mnt/data/greenhouse/vent-plan.csv", "w") as plan:
    print("time,vents,expected", file=plan)
    for hour in (23, 0, 1, 2):
        percent = vents.opening(warmth, warmest)
        warmth -= percent / 100 * 0.4 * (warmth - outside)
        print(f"{hour:02}:00,{percent} %,{warmth:.1f} °C", file=plan)
print(f"{warmth:.1f} °C expected at 02:00")
`;

/** One response of the model. */
interface Step {
  /** Whether the model runs Python, which needs a sandbox. */
  readonly isPython?: true;
  /** Returns the model's actions, given the output of its last code. */
  act(printed: string): readonly ModelAction[];
}

const NIGHT: readonly Step[] = [
  { act: () => [{ search: { web: "Leiden weather tonight" } }] },
  { isPython: true, act: () => [{ code: REVIEW.trim() }] },
  {
    act: (printed) => [
      { say: `14 °C by midnight (https://${WEATHER}).`, citations: [{ hit: 0 }] },
      { call: { name: "set_vent", args: { percent: parseRequestedOpening(printed) ?? 140 } } },
    ],
  },
  { act: () => [{ call: { name: "report", args: { text: "All is well." } } }] },
  {
    // The container is lost here on purpose. The patch is applied locally and survives.
    act: () => [{ patch: [createUpdate("greenhouse/vents.py", FIX)] }, { expireContainer: true }],
  },
  { isPython: true, act: () => [{ code: AGAIN.trim() }] },
  {
    act: (printed) => [
      { call: { name: "set_vent", args: { percent: parseRequestedOpening(printed) ?? 100 } } },
    ],
  },
  {
    act: (printed) => [
      { patch: [createUpdate(LOG, createLogDiff(parseRequestedOpening(printed) ?? 100))] },
    ],
  },
  { isPython: true, act: () => [{ code: PLAN.trim() }] },
  { act: (printed) => [createAnswer(printed)] },
];

function createAnswer(printed: string): ModelAction {
  const fault = "vents.py requested less than 0 % and more than 100 %";
  const common = { fault, wakeGardener: false };
  if (printed === "") {
    return { say: { ...common, ventPercent: 100, plan: "all vents stay open until the morning" } };
  }
  const ventPercent = Number(/vents at (\d+) %/.exec(printed)?.[1]);
  const plan = `${printed.trim().split("\n").at(-1)}, as vent-plan.csv shows`;
  return { say: { ...common, ventPercent, plan }, citations: [{ file: "vent-plan.csv" }] };
}

const FIX = [
  '     """Returns the opening in percent."""',
  "-    return round((inside - warmest) * PERCENT_A_DEGREE)",
  "+    return max(0, min(100, round((inside - warmest) * PERCENT_A_DEGREE)))",
];

function createLogDiff(percent: number): readonly string[] {
  return [
    " # Night log",
    " ",
    "-- vents at 20 %",
    `+- vents at ${percent} %`,
    " - gardener not called",
  ];
}

function createUpdate(path: string, lines: readonly string[]): object {
  return { type: "update_file", path, diff: `@@\n${lines.join("\n")}\n` };
}

/**
 * Returns the opening that vents.py requested when code last ran it, or `null` if no code has run.
 */
function parseRequestedOpening(printed: string): number | null {
  const percent = /now it requests (-?\d+) %/.exec(printed)?.[1];
  return percent === undefined ? null : Number(percent);
}

/**
 * Creates the model of the demo. It investigates, makes two mistakes, fixes the fault, and answers.
 * Without Python it skips the steps that run code.
 */
export function greenhouseModel({ hasPython }: { readonly hasPython: boolean }): LocalModel {
  const steps = NIGHT.filter(({ isPython }) => hasPython || !isPython);
  return scriptedModel(({ turn, items }) => {
    const calls = filterByType(
      items.map((item) => ({ ...item })),
      "code_interpreter_call",
    );
    const printed = readRecords(calls.at(-1) ?? {}, "outputs").map((part) =>
      readString(part, "logs"),
    );
    return steps[turn]?.act(printed.join("")) ?? [{ fail: { message: "The night is over." } }];
  });
}
