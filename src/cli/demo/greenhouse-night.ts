import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { itemsOfType, recordsAt, textAt } from "../../base/reading.ts";
import type { ModelAction } from "../../local/model-action.ts";
import type { LocalModel } from "../../local/models/local-model.ts";
import { scriptedModel } from "../../local/models/scripted-model.ts";
import { LOG } from "./greenhouse.ts";

const WEATHER = "weather.example/leiden.html";

const PAGES: Readonly<Record<string, string>> = {
  [WEATHER]: page("Leiden tonight", "Weather in Leiden: clear, 14 °C by midnight, a light breeze."),
  "weather.example/delft.html": page("Delft tonight", "Weather in Delft: rain until the morning."),
  "gossip.example/leiden.html": page("Leiden weather tonight", "Weather tonight: snow, surely!"),
};

function page(title: string, text: string): string {
  return `<!doctype html><title>${title}</title><h1>${title}</h1><p>${text}</p>\n`;
}

/** Writes the pages that are the demo's web. */
export async function layOutWeb(folder: string): Promise<void> {
  for (const [path, html] of Object.entries(PAGES)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), html);
  }
}

// Runs the greenhouse's own code on its own readings. `percents` stays in the interpreter's memory.
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
print(f"{len(wrong)} of {len(rows)} times vents.py asks for what no vent can do: {wrong}")
print(f"now it asks for {percents[-1]} %")
`;

const AGAIN = `
print("percents is", "still here" if "percents" in globals() else "gone with the old container")
${REVIEW.trim()}
`;

// Uses variables of the code before it: a container keeps its interpreter while it lives.
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

/** One request to the model. */
interface Step {
  /** Whether the model runs Python, which needs a sandbox. */
  readonly isPython?: true;
  /** What the model does, given what its code printed last. */
  act(printed: string): readonly ModelAction[];
}

const NIGHT: readonly Step[] = [
  { act: () => [{ search: { web: "Leiden weather tonight" } }] },
  { isPython: true, act: () => [{ code: REVIEW.trim() }] },
  {
    act: (printed) => [
      { say: `14 °C by midnight (https://${WEATHER}).`, citations: [{ hit: 0 }] },
      { call: { name: "set_vent", args: { percent: askedFor(printed) ?? 140 } } },
    ],
  },
  { act: () => [{ call: { name: "report", args: { text: "All is well." } } }] },
  {
    // The container is lost here, on purpose. The patch is applied on this side and survives.
    act: () => [{ patch: [mended("greenhouse/vents.py", FIX)] }, { expireContainer: true }],
  },
  { isPython: true, act: () => [{ code: AGAIN.trim() }] },
  {
    act: (printed) => [{ call: { name: "set_vent", args: { percent: askedFor(printed) ?? 100 } } }],
  },
  { act: (printed) => [{ patch: [mended(LOG, logged(askedFor(printed) ?? 100))] }] },
  { isPython: true, act: () => [{ code: PLAN.trim() }] },
  { act: (printed) => [answer(printed)] },
];

function answer(printed: string): ModelAction {
  const fault = "vents.py asked for less than 0 % and more than 100 %";
  const common = { fault, wakeSomebody: false };
  if (printed === "") {
    return { say: { ...common, ventPercent: 100, plan: "all vents stay open until the morning" } };
  }
  const ventPercent = Number(/vents at (\d+) %/.exec(printed)?.[1]);
  const plan = `${printed.trim().split("\n").at(-1)}, as vent-plan.csv shows`;
  return { say: { ...common, ventPercent, plan }, citations: [{ file: "vent-plan.csv" }] };
}

const FIX = [
  '     """In percent: more, the warmer it is than it may be."""',
  "-    return round((inside - warmest) * PERCENT_A_DEGREE)",
  "+    return max(0, min(100, round((inside - warmest) * PERCENT_A_DEGREE)))",
];

function logged(percent: number): readonly string[] {
  return [" # Night log", " ", "-- vents at 20 %", `+- vents at ${percent} %`, " - nobody woken"];
}

function mended(path: string, lines: readonly string[]): object {
  return { type: "update_file", path, diff: `@@\n${lines.join("\n")}\n` };
}

/** What vents.py asked for when code ran it last; `null` if no code has run. */
function askedFor(printed: string): number | null {
  const percent = /now it asks for (-?\d+) %/.exec(printed)?.[1];
  return percent === undefined ? null : Number(percent);
}

/**
 * The model of the demo: it looks, makes two mistakes, fixes what it finds, and answers. Without Python it
 * skips the steps that run code.
 */
export function nightModel({ hasPython }: { readonly hasPython: boolean }): LocalModel {
  const steps = NIGHT.filter(({ isPython }) => hasPython || !isPython);
  return scriptedModel(({ turn, items }) => {
    const calls = itemsOfType(
      items.map((item) => ({ ...item })),
      "code_interpreter_call",
    );
    const printed = recordsAt(calls.at(-1) ?? {}, "outputs").map((part) => textAt(part, "logs"));
    return steps[turn]?.act(printed.join("")) ?? [{ fail: { message: "The night is over." } }];
  });
}
