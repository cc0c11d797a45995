import { describe, expect, it } from "vitest";
import type { FaultStage, Form } from "../support/workspace/fault-stage.ts";
import type { Strike } from "../support/workspace/relay.ts";
import { hasBubblewrap } from "../support/workspace/stage.ts";
import {
  type Act,
  isBlock,
  isTurn,
  replacementsToldIn,
  Story,
  type StoryOptions,
} from "../support/workspace/story.ts";

const CREATE = /^POST \/containers$/;
const UPLOAD = /^POST \/containers\/[^/]+\/files$/;
const DOWNLOAD = /^GET \/containers\/[^/]+\/files\/[^/]+\/content$/;
const RESPONSES = /^POST \/responses$/;

/** Where in a story the container dies. */
interface Place {
  readonly strike?: (stage: FaultStage) => Omit<Strike, "act">;
  /** Waited for before it dies. */
  readonly until?: (stage: FaultStage, containerId: string) => Promise<void>;
  readonly inTool?: StoryOptions["inTool"];
  readonly loses?: Act;
  /** What is told to be lost. */
  readonly lost: readonly string[];
}

/** Says that it has begun, and takes its time. */
const SLOW = `import time
open("/mnt/data/started.txt", "w").write("x")
time.sleep(30)`;

async function hasStarted({ calls }: FaultStage, containerId: string): Promise<void> {
  const paths = async () => {
    const all: string[] = [];
    for await (const { path } of calls.list(containerId)) all.push(path);
    return all;
  };
  await expect.poll(paths).toContain("/mnt/data/started.txt");
}

const memory = "what code held in memory";
const work = "what code changed in files since they were last fetched";

const places: Readonly<Record<string, Place>> = {
  "right after it was made": { strike: () => ({ on: CREATE, when: "after" }), lost: [] },
  "during an upload": { strike: () => ({ on: UPLOAD, when: "during" }), lost: [] },
  "between two turns": { inTool: (story) => story.killNow(), lost: [memory] },
  "right before a request": {
    strike: () => ({ on: RESPONSES, fits: isTurn, nth: 2, when: "before" }),
    lost: [memory],
  },
  "while code runs": {
    strike: () => ({ on: RESPONSES, fits: isTurn, nth: 2, when: "during" }),
    inTool: async (story) => void story.instead.push(SLOW),
    until: hasStarted,
    lost: [memory],
  },
  "during the download after a turn": {
    strike: ({ relay }) => ({
      on: DOWNLOAD,
      fits: () => relay.requests.filter(isTurn).length === 2,
      when: "during",
    }),
    loses: "second",
    lost: [memory, work],
  },
};

const ofEach: Readonly<Record<"bootstrap" | "files", typeof places>> = {
  bootstrap: {
    "while files are unpacked": {
      strike: () => ({ on: RESPONSES, fits: isBlock, when: "during" }),
      lost: [],
    },
    "after files were unpacked": {
      strike: () => ({ on: RESPONSES, fits: isBlock, when: "after" }),
      lost: [memory],
    },
  },
  files: {
    "between two uploads": { strike: () => ({ on: UPLOAD, nth: 3, when: "after" }), lost: [] },
  },
};

/** The others are found out by requests that run code only. */
const always: readonly Form[] = ["deleted", "expired"];
const byCode = /before a request|while code runs|are unpacked/;

describe.skipIf(!hasBubblewrap).each(["bootstrap", "files"] as const)(
  "with unpack %j nothing is lost where",
  (unpack) => {
    const cases = Object.entries({ ...places, ...ofEach[unpack] }).flatMap(([name, place]) => {
      const forms: readonly Form[] = byCode.test(name) ? [...always, "kernel", "told"] : always;
      return forms.map((form) => [name, form, place] as const);
    });

    it.for(cases)("the container dies %s (%s)", async ([, form, place]) => {
      const story = await Story.begin({ unpack, form, inTool: place.inTool, loses: place.loses });
      const { stage } = story;
      const act = async (id: string) => {
        await place.until?.(stage, id);
        await story.kill(id);
      };
      const strike = place.strike && stage.relay.strike({ ...place.strike(stage), act });
      await story.all();
      expect(strike?.struck ?? 1).toBe(1);
      const [replaced, ...more] = stage.told("ContainerReplaced");
      expect(replaced).toMatchObject({ replacedBy: stage.section.containerId, lost: place.lost });
      expect(more).toEqual([]);
      const lines = stage.relay.requests.map((request) => replacementsToldIn(request).length);
      expect(Math.max(...lines)).toBe(place.lost.length === 0 ? 0 : 1);
      await story.expectNothingLost();
    });

    it.for(always)("a read finds the container dead, in the middle of it (%s)", async (form) => {
      const section = { syncPolicy: "cleanup" } as const;
      const story = await Story.begin({ unpack, form, section, loses: "second" });
      const { relay, told } = story.stage;
      await story.one();
      const strike = relay.strike({ on: DOWNLOAD, when: "during", act: story.kill });
      expect(await story.stage.section.filesystem.readText("p/a.txt")).toBe("one\ntwo\n");
      expect([strike.struck, told("ContainerReplaced").map(({ lost }) => lost)]).toEqual([
        1,
        [[memory, work]],
      ]);
      await story.between();
      await story.two();
      await story.expectNothingLost();
    });

    it.for(always)("the container dies while all is brought back (%s)", async (form) => {
      const section = { syncPolicy: "cleanup" } as const;
      const story = await Story.begin({ unpack, form, section, loses: "third" });
      const { relay, told } = story.stage;
      await story.all();
      relay.strike({ on: DOWNLOAD, when: "during", act: story.kill });
      const { failed } = await story.stage.section.cleanup();
      expect(failed).toEqual([
        {
          path: ".",
          reason: expect.stringMatching(/^what code changed last could not be fetched: /),
        },
      ]);
      expect(told("ContainerReplaced")).toEqual([]);
      await story.expectNothingLost();
    });
  },
);
