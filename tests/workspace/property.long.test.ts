import fc from "fast-check";
import { describe, it } from "vitest";
import type { Filesystem, FsSnapshot } from "../../src/files/filesystem/filesystem.ts";
import { aCodeAct, aPath, aText } from "../support/workspace/code-acts.ts";
import type { Form } from "../support/workspace/fault-stage.ts";
import { hasBubblewrap } from "../support/workspace/stage.ts";
import { World } from "../support/workspace/world.ts";

/** The same at every run, unless it is said otherwise: a failure tells the seed to give here. */
const seed = Number(process.env["WINK_SEED"] ?? 20_261_115);
const numRuns = Number(process.env["WINK_RUNS"] ?? 2);
const STEPS = 350;

type Step = (world: World) => Promise<void>;

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const form = fc.constantFrom<Form>("deleted", "expired", "kernel", "told");

/** A path that may be new, or that of a file there is. */
const target = fc.tuple(fc.boolean(), aPath, fc.nat({ max: 40 }));
type Target = readonly [isNew: boolean, path: string, which: number];

function pathIn(world: World, [isNew, path, which]: Target): string {
  const paths = [...world.files.keys()].sort();
  return isNew ? path : (paths[which % Math.max(paths.length, 1)] ?? path);
}

const fileStep: fc.Arbitrary<readonly [string, Step]> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(target, aText).map(
      named("write", (world, [at, text]) => {
        const path = pathIn(world, at);
        return world.does((files) => files.write(path, bytesOf(text)));
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: target.map(
      named("delete", (world, at) => {
        const path = pathIn(world, at);
        return world.does((files) => files.delete(path));
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: aPath.map(named("mkdir", (world, path) => world.does((files) => files.mkdir(path)))),
  },
  {
    weight: 1,
    arbitrary: fc.constant(null).map(named("snapshot", (world) => world.does(snapshot))),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat({ max: 4 })
      .map(
        named("restore", (world, at) =>
          world.does((files, marks) => files.restore(mark(marks, at))),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat({ max: 4 })
      .map(
        named("release", (world, at) =>
          world.does(async (files, marks) => await files.release?.(mark(marks, at))),
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: target.map(
      named("read", (world, at) => {
        const path = pathIn(world, at);
        return world.does(async (files) => [...(await files.readBytes(path))]);
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("*", "a/*", "*.txt")
      .map(named("glob", (world, pattern) => world.does((files) => files.glob(pattern)))),
  },
);

const onAny = fc.constantFrom(
  /^POST \/containers$/,
  /^POST \/containers\/[^/]+\/files$/,
  /^GET \/containers\/[^/]+\/files$/,
  /^GET .*\/content$/,
  /^DELETE .*\/files\/[^/]+$/,
  /^POST \/responses$/,
);

const ambush = fc
  .record({
    on: onAny,
    when: fc.constantFrom("before" as const, "during" as const, "after" as const),
    nth: fc.integer({ min: 1, max: 3 }),
    form,
  })
  .map(named("ambush", async (world, given) => world.liesInWait(given)));

const step: fc.Arbitrary<readonly [string, Step]> = fc.oneof(
  { weight: 75, arbitrary: fileStep },
  {
    weight: 4,
    arbitrary: fc
      .array(aCodeAct, { minLength: 5, maxLength: 20, size: "max" })
      .map(named("run", (world, acts) => world.runs(acts))),
  },
  { weight: 1, arbitrary: fc.constant(null).map(named("talk", (world) => world.talks())) },
  { weight: 1, arbitrary: form.map(named("die", (world, how) => world.dies(how))) },
  { weight: 2, arbitrary: ambush },
);

describe.skipIf(!hasBubblewrap)("a workspace, whatever is done to it,", () => {
  it.each(["bootstrap", "files"] as const)(
    "is what is known of it, with unpack %j",
    { timeout: 120_000 * numRuns },
    async (unpack) => {
      const steps = fc.array(step, { minLength: STEPS, maxLength: STEPS, size: "max" });
      const property = fc.asyncProperty(steps, async (all) => {
        const world = await World.begin(unpack);
        for (const [name, work] of all) await telling(name, () => work(world));
        await world.expectSame();
        await world.ends();
      });
      // One run takes seconds, so that a failure is not made shorter.
      await fc.assert(property, { seed, numRuns, endOnFailure: true });
    },
  );
});

/** A step that says what it is when a run fails. */
function named<Given>(
  name: string,
  work: (world: World, given: Given) => Promise<void>,
): (given: Given) => readonly [string, Step] {
  return (given) => [
    `${name} ${JSON.stringify(given)?.slice(0, 200)}`,
    (world) => work(world, given),
  ];
}

async function snapshot(files: Filesystem, marks: FsSnapshot[]): Promise<void> {
  marks.push(await files.snapshot());
}

function mark(marks: readonly FsSnapshot[], at: number): FsSnapshot {
  return marks.at(-1 - at) ?? { id: "none" };
}

async function telling(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new Error(`At the step "${name}"`, { cause: error });
  }
}
