import { describe, expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { lookTool } from "../../../tests/support/openai-run.ts";
import { countUntil } from "../../../tests/support/resume/killed-runs.ts";
import {
  createInterceptionFixture,
  type InterceptionFixture,
  isWorkspaceRequest,
} from "../../../tests/support/workspace/interception-fixture.ts";
import { createRepository } from "../../../tests/support/workspace/workspace-fixture.ts";
import { readRecords } from "../../base/json.ts";
import type { ModelAction } from "../../local/index.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import type { WireItem } from "../wire.ts";

/** A model that runs code and looks twice. It goes by the conversation, so that it is the same for every process. */
const createScript =
  (code: string | null) =>
  ({ items }: { readonly items: readonly object[] }): readonly ModelAction[] => {
    const types = items.map((item) => Object(item).type);
    const looks = types.filter((type) => type === "function_call_output").length;
    if (looks === 2) return [{ say: "Done." }];
    const runsCode = code !== null && looks === 0 && types.at(-1) !== "code_interpreter_call";
    return [runsCode ? { code } : { call: { name: "look", args: {} } }];
  };

/** Runs to the end on a stored session, then again from its records up to the first completed turn. */
async function resumeAfterFirstTurn(
  stage: InterceptionFixture,
  evaluate: (options: { session: Session; resume?: true }) => Promise<unknown>,
) {
  const store = new MemorySessionStore();
  const first = new Session({ id: "run", store, bus: recordingBus() });
  await evaluate({ session: first });
  await first.flush();
  const whole = listTurns(stage);
  const records = store.lines.get("run") ?? [];
  store.lines.set("run", records.slice(0, countUntil(records, "TurnCompleted")));
  const bus = recordingBus();
  const session = await Session.openOrCreate(store, "run", [], { bus });
  await evaluate({ session, resume: true });
  return { whole, resumed: listTurns(stage).slice(whole.length), bus };
}

/** Returns the input of each turn's request. */
function listTurns({ seenRequests }: InterceptionFixture): readonly (readonly WireItem[])[] {
  const own = seenRequests.filter((one) => one.path === "/responses" && !isWorkspaceRequest(one));
  return own.map(({ body }) => readRecords(body, "input"));
}

function listNotes(input: readonly WireItem[] = []): readonly string[] {
  return input.flatMap(({ role, content }) => (role === "developer" ? [String(content)] : []));
}

describe("the notes about mounted files, after a resume", () => {
  const run = async (code: string | null) => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(createScript(code), {
      adapter: { hostedTools: null },
    });
    const hostMounts = [{ hostPath: folder, mountPath: "p" }];
    const container = { type: "auto", hostMounts, allowedHostRoots: [folder] } as const;
    return await resumeAfterFirstTurn(stage, (options) =>
      stage.evaluate([], {
        ...{ hostedTools: [codeInterpreterTool({ container })], tools: [lookTool] },
        ...options,
      }),
    );
  };

  test("are not sent again", async () => {
    const { whole, resumed, bus } = await run(null);
    expect(whole[2]).toHaveLength(6);
    expect(resumed).toHaveLength(2);
    expect(listNotes(resumed[0])).toEqual(listNotes(whole[1]));
    expect(listNotes(resumed[1])).toHaveLength(1);
    expect(bus.of("ContainerReplaced")).toEqual([]);
  });

  test("say that the changes of code are lost, because the mounts of a tool are not kept", async () => {
    const { whole, resumed, bus } = await run("open('/mnt/data/p/b.txt', 'w').write('new')");
    const notes = [
      ...listNotes(whole[0]),
      "The container was replaced by a new one. The files were restored to their last saved state; later changes by code are lost. Variables, imports and processes of earlier code are lost.",
    ];
    expect(resumed.map(listNotes)).toEqual([notes, notes]);
    expect(resumed[0]?.map(({ type }) => type)).not.toContain("code_interpreter_call");
    expect(bus.of("ContainerReplaced")).toMatchObject([
      { reason: "its files were not kept for this process" },
    ]);
    expect(bus.of("HistoryRepaired")).toMatchObject([
      { dropped: [{ type: "code_interpreter_call" }] },
    ]);
  });

  test("say once that the files are not in folders", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(createScript(null));
    stage.intercept(async (request) => {
      if (!isWorkspaceRequest(request)) return null;
      const { status, body } = await request.forward();
      return { status, body: String(body).replaceAll(/"logs":"[^"]*"/g, '"logs":"Bad luck."') };
    });
    const { whole, resumed } = await resumeAfterFirstTurn(stage, ({ session, ...options }) => {
      const mounts = [{ hostPath: folder, mountPath: "p" }];
      const section = stage.createSection({ mounts, session });
      return stage.evaluate(section, { tools: [lookTool], session, ...options });
    });
    const isFlat = (note: string) => note.includes("are not in folders");
    expect(listNotes(whole.at(-1)).filter(isFlat)).toHaveLength(1);
    expect(listNotes(resumed.at(-1)).filter(isFlat)).toHaveLength(1);
  });
});
