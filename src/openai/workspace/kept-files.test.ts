import { describe, expect, test } from "vitest";
import { KeptFiles, type KeptFilesParts } from "./kept-files.ts";

/** Parts that record what is done with them; each has only what the case uses. */
function createParts(given: {
  readonly keeper?: object;
  readonly container?: object;
  readonly transfer?: object;
}) {
  const done: string[] = [];
  const act =
    <Result>(name: string, result?: Result) =>
    () => {
      done.push(name);
      return result;
    };
  const keeper = {
    ...{ keepsFiles: false, tree: null, mounted: null, earlierContainer: null },
    store: async () => void done.push("store"),
    continueEarlier: act("continueEarlier"),
    giveUpEarlier: act("giveUpEarlier"),
    takeLost: () => [],
    ...given.keeper,
  };
  const container = {
    state: "absent",
    isAlive: async () => true,
    transferIfPresent: (work: () => unknown) => work(),
    adopt: act("adopt"),
    loseEarlier: (_id: string, reason: string) => void done.push(`lose: ${reason}`),
    ...given.container,
  };
  const transfer = {
    adopt: async () => true,
    onPossibleCodeRun: act("onPossibleCodeRun"),
    onEarlierLost: act("onEarlierLost"),
    ...given.transfer,
  };
  const mirror = { baseline: { files: new Map() }, root: "", setMounted: act("setMounted") };
  const parts: unknown = { keeper, container, transfer, mirror };
  return { done, kept: new KeptFiles(parts as KeptFilesParts) };
}

const earlierContainer = { containerId: "cntr_1", digest: "d", hasUnfetchedChanges: false };

describe("files of an earlier process that could not be restored", () => {
  test("are noted until the model has read it", () => {
    const lost = [[{ path: "a.txt", reason: "its contents are missing" }], []];
    const { kept } = createParts({ keeper: { takeLost: () => lost.shift() ?? [] } });
    kept.onNotesRead(["Hi."]);
    const notes = kept.collectNotes();
    expect(notes).toEqual([expect.stringContaining("a.txt")]);
    kept.onNotesRead(["another note"]);
    expect(kept.collectNotes()).toEqual(notes);
    kept.onNotesRead(notes);
    expect(kept.collectNotes()).toEqual([]);
  });

  test("are looked for if no container is left and only the mounts are known", async () => {
    const { done, kept } = createParts({ keeper: { mounted: {} } });
    await kept.resumeEarlier({});
    expect(done).toEqual(["store"]);
    const other = createParts({});
    await other.kept.resumeEarlier({});
    expect(other.done).toEqual([]);
  });
});

describe("the container of an earlier process", () => {
  test("is used again if it has the files, and as it is if a request may be running in it", async () => {
    const { done, kept } = createParts({ keeper: { earlierContainer, mounted: {} } });
    await kept.resumeEarlier({ isSubmitted: true });
    expect(done).toEqual(["setMounted", "continueEarlier", "adopt", "onPossibleCodeRun"]);
    const tree = { files: new Map([["a.sh", { mode: 0o755 }]]) };
    const kept2 = createParts({ keeper: { earlierContainer, keepsFiles: true, tree } });
    await kept2.kept.resumeEarlier({});
    expect(kept2.done).toEqual(["continueEarlier", "adopt"]);
  });

  test.each([
    ["it has other files", { adopt: async () => false }, {}, "its files are not those"],
    ["it is gone", {}, { isAlive: async () => false }, "it no longer exists"],
  ])("is replaced if %s, and losses are reported", async (_why, transfer, container, reason) => {
    const { done, kept } = createParts({ keeper: { earlierContainer }, transfer, container });
    await kept.resumeEarlier({});
    expect(done.slice(0, 3)).toEqual(["giveUpEarlier", "store", "onEarlierLost"]);
    expect(done[3]).toContain(`lose: ${reason}`);
  });

  test("is replaced without a report if this process has already filled another one", async () => {
    const keeper = { earlierContainer, keepsFiles: true };
    const { done, kept } = createParts({ keeper, container: { state: "ready" } });
    await kept.resumeEarlier({});
    expect(done).toEqual(["giveUpEarlier", "lose: it no longer exists"]);
  });

  test("fails the resumption if the provider fails otherwise", async () => {
    const adopt = async () => {
      throw new Error("Busy.");
    };
    const { kept } = createParts({ keeper: { earlierContainer }, transfer: { adopt } });
    await expect(kept.resumeEarlier({})).rejects.toThrow("Busy.");
  });
});
