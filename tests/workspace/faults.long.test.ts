import { describe, expect, it } from "vitest";
import type {
  ContainerFault,
  ContainerFaultFixture,
} from "../support/workspace/container-fault-fixture.ts";
import type { Fault } from "../support/workspace/fault-relay.ts";
import {
  FaultScenario,
  type FaultScenarioOptions,
  isConversationRequest,
  isWorkspaceRequest,
  readReplacementNotes,
  type ScenarioStep,
} from "../support/workspace/fault-scenario.ts";
import { hasBubblewrap } from "../support/workspace/workspace-fixture.ts";

const CREATE = /^POST \/containers$/;
const UPLOAD = /^POST \/containers\/[^/]+\/files$/;
const DOWNLOAD = /^GET \/containers\/[^/]+\/files\/[^/]+\/content$/;
const RESPONSES = /^POST \/responses$/;

/** When in a scenario the container is lost. */
interface FaultCase {
  readonly fault?: (fixture: ContainerFaultFixture) => Omit<Fault, "act">;
  /** Awaited before the container is killed. */
  readonly waitFor?: (fixture: ContainerFaultFixture, containerId: string) => Promise<void>;
  readonly inTool?: FaultScenarioOptions["inTool"];
  readonly loses?: ScenarioStep;
  readonly section?: FaultScenarioOptions["section"];
  /** The losses that the event reports. */
  readonly lost: readonly string[];
  /** How many warnings about failed downloads are logged. @default 0 */
  readonly failedDownloads?: number;
}

/** Code that signals its start and then runs for a long time. */
const SLOW = `import time
open("/mnt/data/started.txt", "w").write("x")
time.sleep(30)`;

async function waitForStart({ calls }: ContainerFaultFixture, containerId: string): Promise<void> {
  const paths = async () => {
    const all: string[] = [];
    for await (const { path } of calls.list(containerId)) all.push(path);
    return all;
  };
  await expect.poll(paths).toContain("/mnt/data/started.txt");
}

const LOST_MEMORY = "the memory of running code";
const LOST_WORK = "changes that code made to files since the last download";
const UNLISTED =
  "file modes, empty folders and symlinks that code made, which the provider does not list";

const commonCases: Readonly<Record<string, FaultCase>> = {
  "right after it was created": { fault: () => ({ on: CREATE, when: "after" }), lost: [] },
  "during an upload": { fault: () => ({ on: UPLOAD, when: "during" }), lost: [] },
  "between two turns": { inTool: (scenario) => scenario.killCurrent(), lost: [LOST_MEMORY] },
  "right before a request": {
    fault: () => ({ on: RESPONSES, matches: isConversationRequest, nth: 2, when: "before" }),
    lost: [LOST_MEMORY],
  },
  "while code runs": {
    fault: () => ({ on: RESPONSES, matches: isConversationRequest, nth: 2, when: "during" }),
    inTool: async (scenario) => void scenario.replacementCode.push(SLOW),
    waitFor: waitForStart,
    lost: [LOST_MEMORY],
  },
  "during the download after a turn": {
    fault: ({ relay }) => ({
      on: DOWNLOAD,
      matches: () => relay.requests.filter(isConversationRequest).length === 2,
      when: "during",
    }),
    loses: "second",
    lost: [LOST_MEMORY, LOST_WORK],
    failedDownloads: 1,
  },
  "during the download before the answer": {
    fault: ({ relay }) => ({
      on: DOWNLOAD,
      matches: () => relay.requests.filter(isConversationRequest).length === 2,
      when: "during",
    }),
    section: { syncPolicy: "cleanup" },
    loses: "second",
    lost: [LOST_MEMORY, LOST_WORK],
    failedDownloads: 1,
  },
};

const casesByUnpack: Readonly<Record<"bootstrap" | "files", typeof commonCases>> = {
  bootstrap: {
    "while files are unpacked": {
      fault: () => ({ on: RESPONSES, matches: isWorkspaceRequest, when: "during" }),
      lost: [],
    },
    "after files were unpacked": {
      fault: () => ({ on: RESPONSES, matches: isWorkspaceRequest, when: "after" }),
      lost: [LOST_MEMORY],
    },
  },
  files: {
    "between two uploads": { fault: () => ({ on: UPLOAD, nth: 3, when: "after" }), lost: [] },
  },
};

/** Faults that every request detects. Only requests that run code detect the others. */
const commonFaults: readonly ContainerFault[] = ["deleted", "expired"];
const foundByCode = /before a request|while code runs|are unpacked/;

describe.skipIf(!hasBubblewrap).each(["bootstrap", "files"] as const)(
  "with unpack %j no file is lost when",
  (unpack) => {
    const cases = Object.entries({ ...commonCases, ...casesByUnpack[unpack] }).flatMap(
      ([name, place]) => {
        const forms: readonly ContainerFault[] = foundByCode.test(name)
          ? [...commonFaults, "kernel", "reported"]
          : commonFaults;
        return forms.map((form) => [name, form, place] as const);
      },
    );

    it.for(cases)("the container is lost %s (%s)", async ([, form, place]) => {
      const scenario = await FaultScenario.start({
        unpack,
        fault: form,
        inTool: place.inTool,
        loses: place.loses,
        section: place.section ?? {},
      });
      const { fixture } = scenario;
      const act = async (id: string) => {
        await place.waitFor?.(fixture, id);
        await scenario.kill(id);
      };
      const fault = place.fault && fixture.relay.injectFault({ ...place.fault(fixture), act });
      await scenario.runAll();
      expect(fault?.hits ?? 1).toBe(1);
      expect(scenario.failedDownloads).toBe(place.failedDownloads ?? 0);
      const [replaced, ...more] = fixture.findEvents("ContainerReplaced");
      const isListed = unpack === "files" && place.lost.length > 0;
      const lost = isListed ? [...place.lost, UNLISTED] : place.lost;
      expect(replaced).toMatchObject({ replacedBy: fixture.section.containerId, lost });
      expect(more).toEqual([]);
      const lines = fixture.relay.requests.map((request) => readReplacementNotes(request).length);
      expect(Math.max(...lines)).toBe(place.lost.length === 0 ? 0 : 1);
      await scenario.expectNothingLost();
    });

    it.for(commonFaults)("the container is lost during a read (%s)", async (form) => {
      const section = { syncPolicy: "cleanup" } as const;
      const scenario = await FaultScenario.start({
        unpack,
        fault: form,
        section,
        loses: "second",
      });
      const { relay, findEvents } = scenario.fixture;
      const unblockDownloads = scenario.blockDownloads(2);
      await scenario.evaluateFirst();
      unblockDownloads();
      expect(scenario.failedDownloads).toBe(1);
      const fault = relay.injectFault({ on: DOWNLOAD, when: "during", act: scenario.kill });
      expect(await scenario.fixture.section.filesystem.readText("p/a.txt")).toBe("one\ntwo\n");
      const unlisted = unpack === "files" ? [UNLISTED] : [];
      expect([fault.hits, findEvents("ContainerReplaced").map(({ lost }) => lost)]).toEqual([
        1,
        [[LOST_MEMORY, LOST_WORK, ...unlisted]],
      ]);
      await scenario.writeBetween();
      await scenario.evaluateSecond();
      await scenario.expectNothingLost();
    });

    it.for(commonFaults)(
      "the container is lost while files are synced on cleanup (%s)",
      async (form) => {
        const section = { syncPolicy: "cleanup" } as const;
        const scenario = await FaultScenario.start({
          unpack,
          fault: form,
          section,
          loses: "third",
        });
        const { relay, findEvents } = scenario.fixture;
        const unblockDownloads = scenario.blockDownloads(3);
        await scenario.runAll();
        unblockDownloads();
        expect(scenario.failedDownloads).toBe(1);
        const fault = relay.injectFault({ on: DOWNLOAD, when: "during", act: scenario.kill });
        const { failed } = await scenario.fixture.section.cleanup();
        expect(fault.hits).toBe(1);
        expect(failed).toEqual([
          {
            path: ".",
            reason: expect.stringMatching(
              /^the last changes that code made could not be downloaded: /,
            ),
          },
        ]);
        expect(findEvents("ContainerReplaced")).toEqual([]);
        await scenario.expectNothingLost();
      },
    );

    it.for(commonFaults)(
      "the container is lost during the download before the last answer (%s)",
      async (form) => {
        const section = { syncPolicy: "cleanup" } as const;
        const scenario = await FaultScenario.start({
          unpack,
          fault: form,
          section,
          loses: "third",
        });
        const { relay, findEvents } = scenario.fixture;
        const fault = relay.injectFault({
          on: DOWNLOAD,
          matches: () => relay.requests.filter(isConversationRequest).length === 3,
          when: "during",
          act: scenario.kill,
        });
        await scenario.runAll();
        expect([fault.hits, scenario.failedDownloads]).toEqual([1, 1]);
        expect(scenario.fixture.section.containerId).toBeNull();
        const { failed } = await scenario.fixture.section.cleanup();
        expect(failed).toEqual([
          {
            path: ".",
            reason:
              "the last changes that code made could not be downloaded: the container no longer exists",
          },
        ]);
        expect(findEvents("ContainerReplaced")).toEqual([]);
        await scenario.expectNothingLost();
      },
    );
  },
);
