import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { localSubject, ourClient } from "../../tests/support/contract-local.ts";
import type { ProviderAdapter } from "../adapter/provider-adapter.ts";
import { WorkspaceDiff } from "../files/changes/workspace-diff.ts";
import { InMemoryFilesystem } from "../files/filesystem/in-memory-filesystem.ts";
import { notSynced } from "../files/sync/sync-report.ts";
import { OpenAIContainerWorkspaceSection } from "../openai/workspace/container-workspace-section.ts";
import type { WorkspaceSectionOptions } from "../prompt/sections/workspace-options.ts";
import type { BusEvent } from "../session/event-map.ts";
import { Session } from "../session/session.ts";
import { adapterContract } from "./adapter-contract.ts";
import type { ContractTurn, MakeSubject } from "./contract/subject.ts";
import type { ContractWorkspace, MakeWorkspace } from "./contract/workspace-case.ts";

/** An adapter under test with its workspace. */
interface Pair {
  readonly make: MakeSubject;
  readonly workspace: MakeWorkspace;
}

const sound: Pair = {
  make: localSubject(ourClient),
  workspace: (options) => new OpenAIContainerWorkspaceSection(options),
};

/** Faults of a workspace or its adapter, with the case that must find each. */
const broken: readonly (readonly [what: string, pair: Pair, name: string, found: string])[] = [
  [
    "mounts too few files",
    overrideOptions(({ mounts }) => ({ mounts: mounts?.slice(1) })),
    "mounts a folder and a single file byte for byte",
    "the files of the workspace",
  ],
  [
    "shows code other bytes",
    changeCode((code) => code.replace("file.read()", "file.read()[1:]")),
    "mounts a folder and a single file byte for byte",
    "the files that code saw",
  ],
  [
    "accepts any root",
    overrideOptions(() => ({ allowedHostRoots: "any" })),
    "rejects a mount outside the allowed roots before sending a request",
    "Expected a rejection",
  ],
  [
    "ignores includeGlob",
    overrideMounts({ includeGlob: undefined }),
    "mounts only files that match includeGlob and not excludeGlob",
    "the files of the workspace",
  ],
  [
    "ignores excludeGlob",
    overrideMounts({ excludeGlob: undefined }),
    "mounts only files that match includeGlob and not excludeGlob",
    "the files of the workspace",
  ],
  [
    "ignores maxBytes",
    overrideMounts({ maxBytes: undefined }),
    "accepts mounts of exactly maxBytes, and rejects one more byte before sending a request",
    "Expected a rejection",
  ],
  [
    "previews nothing",
    overrideSection({ mountPreviews: [] }),
    "lists the contents and withheld key files of each mount in its preview",
    "mountPreviews",
  ],
  [
    "withholds nothing",
    overrideOptions(() => ({ allowSecrets: ["*"] })),
    "lists the contents and withheld key files of each mount in its preview",
    "mountPreviews",
  ],
  [
    "withholds too much",
    overrideOptions(() => ({ allowSecrets: [] })),
    "mounts key files listed in allowSecrets",
    "the withheld files",
  ],
  [
    "passes tools another file system",
    overrideSection({ filesystem: new InMemoryFilesystem() }),
    "lets tools read and write the workspace through their context, and undoes a failed call",
    "the values of the tools",
  ],
  [
    "passes tools no file system",
    overrideSection({ filesystem: undefined }),
    "lets tools read and write the workspace through their context, and undoes a failed call",
    "the values of the tools",
  ],
  [
    "undoes nothing",
    changeSection(({ filesystem }) => void Object.assign(filesystem, { restore: async () => {} })),
    "lets tools read and write the workspace through their context, and undoes a failed call",
    "the files",
  ],
  [
    "hides code's changes from tools",
    changeCode(() => "pass"),
    "shows mounted files and tools' changes to code, and code's changes to tools",
    "the text that the tool read",
  ],
  [
    "does not report who ran code",
    changeEvents((event) => ({ ...event, origin: undefined })),
    "publishes a code run as ToolInvoked with its origin and output",
    "origin",
  ],
  [
    "does not report code's output",
    changeCode(() => "pass"),
    "publishes a code run as ToolInvoked with its origin and output",
    "the message of the event",
  ],
  [
    "loses the output",
    overrideResponse({ output: null }),
    "parses structured output of a prompt with a workspace",
    "response",
  ],
  [
    "starts with an empty workspace each time",
    loseFile(),
    "keeps the workspace's files for the next evaluation",
    "the runs that code counted",
  ],
  [
    "lets code reach the network",
    changeCode((code) => code.replace('"not reached"', '"reached"')),
    "keeps code from connecting to the host's network",
    "the outcome",
  ],
  [
    "connects to the host",
    connectToPort(),
    "keeps code from connecting to the host's network",
    "connections",
  ],
  [
    "copies nothing back",
    overrideOptions(() => ({ syncOnCleanup: false })),
    "copies changed files back on cleanup, reports each, and deletes the temporary folder",
    "the report",
  ],
  [
    "keeps its temporary folder",
    overrideSection({ tempDir: process.cwd() }),
    "copies changed files back on cleanup, reports each, and deletes the temporary folder",
    "the temporary folder exists",
  ],
  [
    "returns an empty report from the second cleanup",
    changeSection(emptySecondReport),
    "returns the same report from a second cleanup and changes nothing",
    "the second report",
  ],
  [
    "does not publish the sync",
    changeEvents((event) => (event.type === "WorkspaceSynced" ? null : event)),
    "publishes WorkspaceSynced with the report, session, prompt and adapter",
    "WorkspaceSynced",
  ],
  [
    "copies nothing back to a new folder",
    overrideOptions(() => ({ syncOnCleanup: false })),
    "copies files to a new folder that is not deleted if no destination is set",
    "the files there",
  ],
  [
    "writes to the host without sync",
    overrideOptions(({ allowedHostRoots }) => ({
      syncOnCleanup: true,
      syncDestination: String(allowedHostRoots?.[0]),
    })),
    "leaves the host's files unchanged if sync is off",
    "the report",
  ],
  [
    "overwrites the user's files",
    overrideOptions(() => ({ onConflict: "overwrite" })),
    "keeps files that the user edited in the meantime, and reports them as conflicts",
    "the host's files",
  ],
  [
    "writes nothing beside the user's files",
    overrideOptions(() => ({ onConflict: "keep" })),
    'writes its version beside the user\'s with onConflict: "both"',
    "the host's files",
  ],
  [
    "finds no differences",
    overrideSection({ diff: async () => new WorkspaceDiff([]) }),
    "compares the files with what was mounted, as a unified diff",
    "the files of the diff",
  ],
  [
    "creates no folders",
    changeCode(() => "pass"),
    "creates empty folders on the host, and removes mounted ones that are empty",
    "the new folder exists",
  ],
  [
    "lets a tool clean it up",
    changeSection(ignoreRefusedCleanup),
    "rejects a cleanup while an evaluation uses the workspace",
    "the cleanup in a tool",
  ],
  [
    "never compacts conversations",
    { ...sound, make: (script, { clock }) => sound.make(script, { clock }) },
    "compacts a conversation that grows too long, publishes an event, and continues",
    "ContextCompacted events",
  ],
  [
    "loses the prompt in a compacted conversation",
    changeRequests((request) => request.replace("Do what the contract says.", "")),
    "compacts a conversation that grows too long, publishes an event, and continues",
    "the next request",
  ],
];

describe("adapterContract()", () => {
  test.each(broken)("detects a workspace that %s", async (_, { make, workspace }, name, found) => {
    const all = adapterContract(make, { workspace, compacts: true });
    const one = all.find((each) => each.name.startsWith(name));
    await expect(one?.run()).rejects.toThrow(new RegExp(`^${found}`));
  });

  test("has a fault for every case", () => {
    const plain = new Set(adapterContract(sound.make).map(({ name }) => name));
    const { make, workspace } = sound;
    const all = adapterContract(make, { workspace, compacts: true });
    const unbroken = all
      .map(({ name }) => name)
      .filter((name) => !plain.has(name) && !broken.some(([, , start]) => name.startsWith(start)));
    expect(unbroken).toEqual([]);
    expect(all.length - plain.size).toBe(23);
  });
});

function overrideOptions(
  change: (options: WorkspaceSectionOptions) => Partial<WorkspaceSectionOptions>,
): Pair {
  return {
    ...sound,
    workspace: (options) => sound.workspace({ ...options, ...change(options) }),
  };
}

function overrideMounts(part: object): Pair {
  return overrideOptions(({ mounts = [] }) => ({
    mounts: mounts.map((mount) => ({ ...mount, ...part })),
  }));
}

function changeSection(change: (section: ContractWorkspace) => void): Pair {
  return {
    ...sound,
    workspace(options) {
      const section = sound.workspace(options);
      change(section);
      return section;
    },
  };
}

function overrideSection(part: object): Pair {
  return changeSection((section) => {
    for (const [name, value] of Object.entries(part)) {
      Object.defineProperty(section, name, { value });
    }
  });
}

/** Returns an empty report from the second cleanup. */
function emptySecondReport(section: ContractWorkspace): void {
  const cleanup = section.cleanup.bind(section);
  let count = 0;
  section.cleanup = async () => {
    const report = await cleanup();
    count += 1;
    return count === 1 ? report : notSynced;
  };
}

/** Returns an empty report instead of rejecting a cleanup. */
function ignoreRefusedCleanup(section: ContractWorkspace): void {
  const cleanup = section.cleanup.bind(section);
  section.cleanup = () => cleanup().catch(() => notSynced);
}

/** Makes the model run other code. */
function changeCode(change: (code: string) => string): Pair {
  const changeTurn = (turn: ContractTurn): ContractTurn =>
    "code" in turn && turn.code !== undefined ? { ...turn, code: change(turn.code) } : turn;
  return { ...sound, make: (script, options) => sound.make(script.map(changeTurn), options) };
}

function changeAdapter(spoil: (adapter: ProviderAdapter) => ProviderAdapter): Pair {
  return {
    ...sound,
    async make(script, options) {
      const subject = await sound.make(script, options);
      return { ...subject, adapter: spoil(subject.adapter) };
    },
  };
}

/** Changes the requests that the adapter reports. */
function changeRequests(change: (request: string) => string): Pair {
  return {
    ...sound,
    async make(script, options) {
      const subject = await sound.make(script, options);
      return { ...subject, asked: () => subject.asked().map(change) };
    },
  };
}

function overrideResponse(part: object): Pair {
  return changeAdapter((adapter) => ({
    name: adapter.name,
    evaluate: async (prompt, options) => ({
      ...(await adapter.evaluate(prompt, options)),
      ...part,
    }),
  }));
}

/** Changes or drops published events. */
function changeEvents(change: (event: BusEvent) => object | null): Pair {
  return changeAdapter((adapter) => ({
    name: adapter.name,
    evaluate(prompt, options) {
      const { bus } = options?.session ?? new Session();
      const publish = bus.publish.bind(bus);
      bus.publish = (event) => {
        const told = change(event);
        if (told !== null) publish(told as BusEvent);
      };
      return adapter.evaluate(prompt, options);
    },
  }));
}

/** Connects to the port that a mounted file names. */
function connectToPort(): Pair {
  const ports: number[] = [];
  const { make } = changeAdapter((adapter) => ({
    name: adapter.name,
    async evaluate(prompt, options) {
      for (const port of ports) await once(connect(port, "127.0.0.1"), "close");
      return await adapter.evaluate(prompt, options);
    },
  }));
  return {
    make,
    workspace(options) {
      const [mount] = options.mounts ?? [];
      ports.push(Number(readFileSync(`${mount?.hostPath}/port`, "utf8")));
      return sound.workspace(options);
    },
  };
}

/** Deletes a file between two evaluations. */
function loseFile(): Pair {
  const made: ContractWorkspace[] = [];
  const { make } = changeAdapter((adapter) => ({
    name: adapter.name,
    async evaluate(prompt, options) {
      const response = await adapter.evaluate(prompt, options);
      for (const { filesystem } of made.splice(0)) await filesystem.delete("repo/count");
      return response;
    },
  }));
  return {
    make,
    workspace(options) {
      const section = sound.workspace(options);
      made.push(section);
      return section;
    },
  };
}
