import fc from "fast-check";
import { describe, it } from "vitest";
import type { Filesystem, FsSnapshot } from "../../src/files/filesystem/filesystem.ts";
import {
  arbitraryCodeChange,
  arbitraryPath,
  arbitraryText,
} from "../support/workspace/code-changes.ts";
import type { ContainerFault } from "../support/workspace/container-fault-fixture.ts";
import { hasBubblewrap } from "../support/workspace/workspace-fixture.ts";
import { WorkspaceModel } from "../support/workspace/workspace-model.ts";

/** A fixed seed by default. A failure prints the seed to set in WINK_SEED. */
const seed = Number(process.env["WINK_SEED"] ?? 20_261_115);
const numRuns = Number(process.env["WINK_RUNS"] ?? 2);
const STEPS = 350;

type Step = (model: WorkspaceModel) => Promise<void>;

const toBytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const fault = fc.constantFrom<ContainerFault>("deleted", "expired", "kernel", "reported");

/** A new path, or the path of an existing file. */
const target = fc.tuple(fc.boolean(), arbitraryPath, fc.nat({ max: 40 }));
type Target = readonly [isNew: boolean, path: string, which: number];

function choosePath(model: WorkspaceModel, [isNew, path, which]: Target): string {
  const paths = [...model.files.keys()].sort();
  return isNew ? path : (paths[which % Math.max(paths.length, 1)] ?? path);
}

const fileStep: fc.Arbitrary<readonly [string, Step]> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(target, arbitraryText).map(
      nameStep("write", (model, [at, text]) => {
        const path = choosePath(model, at);
        return model.apply((files) => files.write(path, toBytes(text)));
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: target.map(
      nameStep("delete", (model, at) => {
        const path = choosePath(model, at);
        return model.apply((files) => files.delete(path));
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: arbitraryPath.map(
      nameStep("mkdir", (model, path) => model.apply((files) => files.mkdir(path))),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant(null).map(nameStep("snapshot", (model) => model.apply(takeSnapshot))),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat({ max: 4 })
      .map(
        nameStep("restore", (model, at) =>
          model.apply((files, marks) => files.restore(findMark(marks, at))),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat({ max: 4 })
      .map(
        nameStep("release", (model, at) =>
          model.apply(async (files, marks) => await files.release?.(findMark(marks, at))),
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: target.map(
      nameStep("read", (model, at) => {
        const path = choosePath(model, at);
        return model.apply(async (files) => [...(await files.readBytes(path))]);
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("*", "a/*", "*.txt")
      .map(nameStep("glob", (model, pattern) => model.apply((files) => files.glob(pattern)))),
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

const plannedFault = fc
  .record({
    on: onAny,
    when: fc.constantFrom("before" as const, "during" as const, "after" as const),
    nth: fc.integer({ min: 1, max: 3 }),
    fault,
  })
  .map(nameStep("ambush", async (model, given) => model.killAtRequest(given)));

const step: fc.Arbitrary<readonly [string, Step]> = fc.oneof(
  { weight: 75, arbitrary: fileStep },
  {
    weight: 4,
    arbitrary: fc
      .array(arbitraryCodeChange, { minLength: 5, maxLength: 20, size: "max" })
      .map(nameStep("run", (model, acts) => model.runCode(acts))),
  },
  {
    weight: 1,
    arbitrary: fc.constant(null).map(nameStep("talk", (model) => model.evaluateWithoutCode())),
  },
  { weight: 1, arbitrary: fault.map(nameStep("die", (model, how) => model.kill(how))) },
  { weight: 2, arbitrary: plannedFault },
);

describe.skipIf(!hasBubblewrap)("a workspace after any operations and faults", () => {
  it.each(["bootstrap", "files"] as const)(
    "equals its model, with unpack %j",
    { timeout: 120_000 * numRuns },
    async (unpack) => {
      const steps = fc.array(step, { minLength: STEPS, maxLength: STEPS, size: "max" });
      const property = fc.asyncProperty(steps, async (all) => {
        const model = await WorkspaceModel.start(unpack);
        for (const [name, work] of all) await nameError(name, () => work(model));
        await model.expectSameFiles();
        await model.expectSyncedFiles();
      });
      // One run takes seconds, so failures are not shrunk.
      await fc.assert(property, { seed, numRuns, endOnFailure: true });
    },
  );
});

/** Creates steps with a name that appears in the failure message. */
function nameStep<Given>(
  name: string,
  work: (model: WorkspaceModel, given: Given) => Promise<void>,
): (given: Given) => readonly [string, Step] {
  return (given) => [
    `${name} ${JSON.stringify(given)?.slice(0, 200)}`,
    (model) => work(model, given),
  ];
}

async function takeSnapshot(files: Filesystem, marks: FsSnapshot[]): Promise<void> {
  marks.push(await files.snapshot());
}

function findMark(marks: readonly FsSnapshot[], at: number): FsSnapshot {
  return marks.at(-1 - at) ?? { id: "none" };
}

async function nameError(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new Error(`At the step "${name}"`, { cause: error });
  }
}
