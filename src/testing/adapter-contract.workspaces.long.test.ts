import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { localSubject, ourClient } from "../../tests/support/contract-local.ts";
import type { ProviderAdapter } from "../adapter/provider-adapter.ts";
import { InMemoryFilesystem } from "../files/filesystem/in-memory-filesystem.ts";
import { notSynced } from "../files/sync/sync-report.ts";
import { OpenAIContainerWorkspaceSection } from "../openai/workspace/container-workspace-section.ts";
import type { WorkspaceSectionOptions } from "../prompt/sections/workspace-options.ts";
import type { BusEvent } from "../session/event-map.ts";
import { adapterContract } from "./adapter-contract.ts";
import type { ContractTurn, MakeSubject } from "./contract/subject.ts";
import type { ContractWorkspace, MakeWorkspace } from "./contract/workspace-case.ts";

/** An adapter under contract with its workspace. */
interface Pair {
  readonly make: MakeSubject;
  readonly workspace: MakeWorkspace;
}

const sound: Pair = {
  make: localSubject(ourClient),
  workspace: (options) => new OpenAIContainerWorkspaceSection(options),
};

/** What is wrong with a workspace or its adapter, the case that must find it, and by what. */
const broken: readonly (readonly [what: string, pair: Pair, name: string, found: string])[] = [
  [
    "mounts less than it should",
    given(({ mounts }) => ({ mounts: mounts?.slice(1) })),
    "a mounted folder and a single file",
    "the files of the workspace",
  ],
  [
    "shows code other bytes",
    scripted((code) => code.replace("file.read()", "file.read()[1:]")),
    "a mounted folder and a single file",
    "the files that code saw",
  ],
  [
    "takes any root",
    given(() => ({ allowedHostRoots: "any" })),
    "a mount from outside",
    "It should have failed",
  ],
  [
    "forgets what is included",
    givenMounts({ includeGlob: undefined }),
    "globs decide",
    "the files of the workspace",
  ],
  [
    "forgets what is excluded",
    givenMounts({ excludeGlob: undefined }),
    "globs decide",
    "the files of the workspace",
  ],
  [
    "forgets maxBytes",
    givenMounts({ maxBytes: undefined }),
    "maxBytes are enough",
    "It should have failed",
  ],
  ["previews nothing", having({ mountPreviews: [] }), "previews tell", "mountPreviews"],
  ["withholds nothing", given(() => ({ allowSecrets: ["*"] })), "previews tell", "mountPreviews"],
  [
    "withholds too much",
    given(() => ({ allowSecrets: [] })),
    "key files that are allowed",
    "what is withheld",
  ],
  [
    "gives tools another file system",
    having({ filesystem: new InMemoryFilesystem() }),
    "a tool reads and writes",
    "what the tools gave",
  ],
  [
    "gives tools no file system",
    having({ filesystem: undefined }),
    "a tool reads and writes",
    "what the tools gave",
  ],
  [
    "undoes nothing",
    changed(({ filesystem }) => void Object.assign(filesystem, { restore: async () => {} })),
    "a tool reads and writes",
    "the files there are",
  ],
  [
    "keeps from tools what code wrote",
    scripted(() => "pass"),
    "code sees what was mounted",
    "what the tool read",
  ],
  [
    "does not say who ran code",
    publishing((event) => ({ ...event, origin: undefined })),
    "a run of code",
    "origin",
  ],
  [
    "does not say what code printed",
    scripted(() => "pass"),
    "a run of code",
    "what the event says",
  ],
  [
    "loses the output",
    answering({ output: null }),
    "structured output is read and typed beside",
    "response",
  ],
  ["starts anew each time", forgetful(), "the next evaluation", "what code counted"],
  [
    "lets code reach the network",
    scripted((code) => code.replace('"not reached"', '"reached"')),
    "code does not reach",
    "the outcome",
  ],
  ["connects to this machine", connecting(), "code does not reach", "connections"],
  [
    "brings nothing back",
    given(() => ({ syncOnCleanup: false })),
    "cleaning up brings",
    "the report",
  ],
  [
    "leaves its folder",
    having({ tempDir: process.cwd() }),
    "cleaning up brings",
    "the temporary folder is there",
  ],
  ["cleans up but once", changed(cleanedOnce), "cleaning up a second time", "the second report"],
  [
    "keeps quiet about what it brought back",
    publishing((event) => (event.type === "WorkspaceSynced" ? null : event)),
    "bringing files back is an event",
    "WorkspaceSynced",
  ],
  [
    "brings nothing back to a folder of its own",
    given(() => ({ syncOnCleanup: false })),
    "files that are brought back to nowhere",
    "the files there",
  ],
  [
    "writes to the host unasked",
    given(({ allowedHostRoots }) => ({
      syncOnCleanup: true,
      syncDestination: String(allowedHostRoots?.[0]),
    })),
    "without syncing",
    "the report",
  ],
  [
    "lets conversations grow",
    { ...sound, make: (script, { clock }) => sound.make(script, { clock }) },
    "a conversation that grows too long",
    "ContextCompacted events",
  ],
  [
    "loses its prompt in a long conversation",
    seen((request) => request.replace("Do what the contract says.", "")),
    "a conversation that grows too long",
    "the request after that",
  ],
];

describe("a workspace", () => {
  test.each(broken)("that %s breaks the contract", async (_, { make, workspace }, name, found) => {
    const all = adapterContract(make, { workspace, compacts: true });
    const one = all.find((each) => each.name.startsWith(name));
    await expect(one?.run()).rejects.toThrow(new RegExp(`^${found}`));
  });

  test("has no case that nothing breaks", () => {
    const plain = new Set(adapterContract(sound.make).map(({ name }) => name));
    const all = adapterContract(sound.make, { ...sound, compacts: true });
    const unbroken = all
      .map(({ name }) => name)
      .filter((name) => !plain.has(name) && !broken.some(([, , start]) => name.startsWith(start)));
    expect(unbroken).toEqual([]);
    expect(all.length - plain.size).toBe(18);
  });
});

function given(
  change: (options: WorkspaceSectionOptions) => Partial<WorkspaceSectionOptions>,
): Pair {
  return {
    ...sound,
    workspace: (options) => sound.workspace({ ...options, ...change(options) }),
  };
}

function givenMounts(part: object): Pair {
  return given(({ mounts = [] }) => ({ mounts: mounts.map((mount) => ({ ...mount, ...part })) }));
}

function changed(change: (section: ContractWorkspace) => void): Pair {
  return {
    ...sound,
    workspace(options) {
      const section = sound.workspace(options);
      change(section);
      return section;
    },
  };
}

function having(part: object): Pair {
  return changed((section) => {
    for (const [name, value] of Object.entries(part)) {
      Object.defineProperty(section, name, { value });
    }
  });
}

/** The second time it has forgotten what it did the first. */
function cleanedOnce(section: ContractWorkspace): void {
  const cleanup = section.cleanup.bind(section);
  let count = 0;
  section.cleanup = async () => {
    const report = await cleanup();
    count += 1;
    return count === 1 ? report : notSynced;
  };
}

/** Has the model run other code. */
function scripted(change: (code: string) => string): Pair {
  const changedTurn = (turn: ContractTurn): ContractTurn =>
    "code" in turn && turn.code !== undefined ? { ...turn, code: change(turn.code) } : turn;
  return { ...sound, make: (script, options) => sound.make(script.map(changedTurn), options) };
}

function adapting(spoil: (adapter: ProviderAdapter) => ProviderAdapter): Pair {
  return {
    ...sound,
    async make(script, options) {
      const subject = await sound.make(script, options);
      return { ...subject, adapter: spoil(subject.adapter) };
    },
  };
}

/** Sends something else than it is said to. */
function seen(change: (request: string) => string): Pair {
  return {
    ...sound,
    async make(script, options) {
      const subject = await sound.make(script, options);
      return { ...subject, asked: () => subject.asked().map(change) };
    },
  };
}

function answering(part: object): Pair {
  return adapting((adapter) => ({
    name: adapter.name,
    evaluate: async (prompt, options) => ({
      ...(await adapter.evaluate(prompt, options)),
      ...part,
    }),
  }));
}

/** Tells events otherwise, or not at all. */
function publishing(change: (event: BusEvent) => object | null): Pair {
  return adapting((adapter) => ({
    name: adapter.name,
    evaluate(prompt, options) {
      const { bus } = options.session;
      const publish = bus.publish.bind(bus);
      bus.publish = (event) => {
        const told = change(event);
        if (told !== null) publish(told as BusEvent);
      };
      return adapter.evaluate(prompt, options);
    },
  }));
}

/** Calls the port that a mounted file names. */
function connecting(): Pair {
  const ports: number[] = [];
  const { make } = adapting((adapter) => ({
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

/** Loses a file between two evaluations. */
function forgetful(): Pair {
  const made: ContractWorkspace[] = [];
  const { make } = adapting((adapter) => ({
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
