import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LocalModel } from "../local/models/local-model.ts";
import { scriptedModel } from "../local/models/scripted-model.ts";
import { LOG } from "./greenhouse.ts";

/** What the log says before the night. */
export const LOG_BEFORE = "# Night log\n\n- vents at 20 %\n- nobody woken\n";

const READINGS = `time,inside,outside
18:00,24.5,19.0
19:00,26.0,18.0
20:00,28.5,17.0
21:00,30.0,16.0
22:00,31.5,15.5
`;

const WEATHER = "weather.example/leiden.html";

const PAGES: Readonly<Record<string, string>> = {
  [WEATHER]: page("Leiden tonight", "Weather in Leiden: clear, 14 °C by midnight, a light breeze."),
  "weather.example/delft.html": page("Delft tonight", "Weather in Delft: rain until the morning."),
  "gossip.example/leiden.html": page("Leiden weather tonight", "Weather tonight: snow, surely!"),
};

function page(title: string, text: string): string {
  return `<!doctype html><title>${title}</title><h1>${title}</h1><p>${text}</p>\n`;
}

/** The folders that the demo runs on. */
export interface NightFolders {
  /** Where the agent's log is. */
  readonly log: string;
  /** The pages that are its web. */
  readonly web: string;
  /** The file of the sensors. */
  readonly readings: string;
}

/** Writes everything that the night begins with. */
export async function layOut(folder: string): Promise<NightFolders> {
  const web = join(folder, "web");
  const log = join(folder, "greenhouse");
  const readings = join(folder, "readings.csv");
  const files = [
    [join(log, LOG), LOG_BEFORE],
    [readings, READINGS],
    ...Object.entries(PAGES).map(([path, html]) => [join(web, path), html] as const),
  ] as const;
  for (const [path, text] of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return { log, web, readings };
}

// The provider puts the file's id before its name, as OpenAI does.
const LOOK = `
import csv, glob
[path] = glob.glob("/mnt/data/*readings.csv")
rows = list(csv.DictReader(open(path)))
inside = [float(row["inside"]) for row in rows]
rise = (inside[-1] - inside[0]) / (len(inside) - 1)
print(f"{len(rows)} readings: {inside[-1]} °C now, rising by {rise:.2f} °C an hour")
`;

// What the code before has read is still there: the container keeps its interpreter.
const PLAN = `
warmth = inside[-1]
with open("/mnt/data/vent-plan.csv", "w") as plan:
    print("time,vents,expected", file=plan)
    for hour in (23, 0, 1, 2):
        warmth -= 0.6 * 0.4 * (warmth - 14)
        print(f"{hour:02}:00,60 %,{warmth:.1f} °C", file=plan)
print(f"{warmth:.1f} °C expected at 02:00")
`;

const DIFF = [" # Night log", " ", "-- vents at 20 %", "+- vents at 60 %", " - nobody woken", ""];

/** What the model of the demo does: it looks, makes two mistakes and mends them, and answers. */
export function nightModel(): LocalModel {
  const url = `https://${WEATHER}`;
  return scriptedModel([
    [{ search: { web: "Leiden weather tonight" } }],
    [{ code: LOOK.trim() }],
    [
      { say: `Clear, and 14 °C by midnight (${url}).`, citations: [{ hit: 0 }] },
      { call: { name: "set_vent", args: { percent: 140 } } },
    ],
    [{ call: { name: "set_vent", args: { percent: 60 } } }],
    [{ call: { name: "report", args: { text: "All is well." } } }],
    [{ patch: [{ type: "update_file", path: LOG, diff: `@@\n${DIFF.join("\n")}` }] }],
    [{ code: PLAN.trim() }],
    [
      {
        say: {
          ventPercent: 60,
          reason:
            "31.5 °C inside, 14 °C by midnight outside: 60 % is enough, as vent-plan.csv shows.",
          wakeSomebody: false,
        },
        citations: [{ file: "vent-plan.csv" }],
      },
    ],
  ]);
}
