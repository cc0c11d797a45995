import { describe, expect, test } from "vitest";
import { createAsyncContext } from "../base/call-fence.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { defineSlice } from "../session/define-slice.ts";
import { Session } from "../session/session.ts";
import { SessionLock } from "../session/session-lock.ts";
import { type ScriptStep, scriptedClient } from "../testing/scripted-client.ts";
import { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { createNestedAdapter, type NestedOptions, parentScope } from "./nested-adapter.ts";

declare module "../session/event-map.ts" {
  interface EventMap {
    NoteTaken: { readonly type: "NoteTaken"; readonly sessionId: string; readonly note: string };
  }
}

type Handler = (context: ToolContext) => ToolResult<unknown> | Promise<ToolResult<unknown>>;

const createPrompt = (key: string, handler?: Handler, parallel = false) => {
  const work = new Tool({
    name: "work",
    description: "Works.",
    params: null,
    parallel,
    handler: (_, context) => handler?.(context) ?? ToolResult.ok(null),
  });
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Work.",
    tools: [work],
  });
  return new Prompt(new PromptTemplate({ ns: "demo", key, sections: [task] }));
};

const callWork = { toolCalls: [{ name: "work" }] };
const inner = createPrompt("inner");

const notes = defineSlice<readonly string[]>("notes", {
  initial: [],
  on: { NoteTaken: (all, { note }) => [...all, note] },
});

const locks: readonly (readonly [string, () => Session])[] = [
  ["whose lock detects nested evaluations", () => new Session()],
  [
    "whose lock cannot detect nested evaluations",
    () =>
      Object.assign(new Session(), { lock: new SessionLock(createAsyncContext(() => undefined)) }),
  ],
];

describe.each(locks)("nested evaluations on a session %s", (_, newSession) => {
  test("can be started and awaited by a handler", async () => {
    const session = newSession();
    const client = scriptedClient(callWork, { text: "inner" }, { text: "outer" });
    const outer = createPrompt("outer", async ({ adapter }) => {
      const { text } = await adapter.evaluate(inner, { session });
      return ToolResult.ok(text, "Asked");
    });
    expect(await client.evaluate(outer, { session })).toMatchObject({ text: "outer" });
    expect(client.asked.map(({ rendered }) => rendered.promptName)).toEqual([
      "demo:outer",
      "demo:inner",
      "demo:outer",
    ]);
    expect(client.asked[2]?.answers).toMatchObject([{ result: { value: "inner" } }]);
  });

  test("can be nested several levels deep", async () => {
    const session = newSession();
    const createNestedPrompt = (depth: number): Prompt<string> =>
      createPrompt(`depth${depth}`, async ({ adapter }) => {
        if (depth === 0) return ToolResult.ok("bottom");
        const { text } = await adapter.evaluate(createNestedPrompt(depth - 1), { session });
        return ToolResult.ok(text);
      });
    const done = [0, 1, 2, 3].map((depth) => ({ text: `done ${depth}` }));
    const client = scriptedClient(callWork, callWork, callWork, callWork, ...done);
    expect(await client.evaluate(createNestedPrompt(3), { session })).toMatchObject({
      text: "done 3",
    });
  });

  test("of one handler run one at a time", async () => {
    const session = newSession();
    const log: string[] = [];
    const step = (name: string) => async () => {
      log.push(`${name} asked`);
      await Promise.resolve();
      log.push(`${name} answered`);
      return { text: name };
    };
    const client = scriptedClient(callWork, step("a"), step("b"), step("c"), { text: "outer" });
    const outer = createPrompt("outer", async ({ adapter }) => {
      const all = [1, 2, 3].map(() => adapter.evaluate(inner, { session }));
      return ToolResult.ok((await Promise.all(all)).map(({ text }) => text));
    });
    await client.evaluate(outer, { session });
    expect(log).toEqual(["a", "b", "c"].flatMap((name) => [`${name} asked`, `${name} answered`]));
    expect(client.asked.at(-1)?.answers).toMatchObject([{ result: { value: ["a", "b", "c"] } }]);
  });

  test("of parallel handlers run one at a time", async () => {
    const session = newSession();
    let now = 0;
    let most = 0;
    const step: ScriptStep = async () => {
      most = Math.max(most, ++now);
      await Promise.resolve();
      now--;
      return { text: "inner" };
    };
    const twice = { toolCalls: [{ name: "work" }, { name: "work" }] };
    const client = scriptedClient(twice, step, step, { text: "outer" });
    const evaluateInner: Handler = async ({ adapter }) => {
      await adapter.evaluate(inner, { session });
      return ToolResult.ok(null);
    };
    await client.evaluate(createPrompt("outer", evaluateInner, true), { session });
    expect(most).toBe(1);
  });

  test("that are not awaited end before the next request", async () => {
    const session = newSession();
    const ended: string[] = [];
    const client = scriptedClient(callWork, { text: "inner" }, { text: "outer" });
    const outer = createPrompt("outer", ({ adapter }) => {
      void adapter.evaluate(inner, { session }).then(({ text }) => ended.push(`${text}`));
      return ToolResult.ok(null);
    });
    const { text } = await client.evaluate(outer, { session });
    expect(text).toBe("outer");
    expect(ended).toEqual(["inner"]);
  });

  test("that fail become failed calls, and the outer evaluation continues", async () => {
    const session = newSession();
    const client = scriptedClient(callWork, new Error("inner is down"), { text: "outer" });
    const outer = createPrompt("outer", async ({ adapter }) => {
      await adapter.evaluate(inner, { session });
      return ToolResult.ok(null);
    });
    expect(await client.evaluate(outer, { session })).toMatchObject({ text: "outer" });
    expect(client.asked.at(-1)?.answers).toMatchObject([
      { text: 'Tool "work" failed: inner is down', result: { success: false } },
    ]);
  });

  test("are rolled back with the call that started them", async () => {
    const session = newSession().register(notes);
    const noting = createPrompt("noting", () => {
      session.dispatch({ type: "NoteTaken", sessionId: session.id, note: "inner" });
      return ToolResult.ok(null);
    });
    const client = scriptedClient(callWork, callWork, { text: "noted" }, { text: "outer" });
    const seen: unknown[] = [];
    const outer = createPrompt("outer", async ({ adapter }) => {
      await adapter.evaluate(noting, { session });
      seen.push(session.get(notes));
      return ToolResult.error("on second thoughts");
    });
    await client.evaluate(outer, { session });
    expect(seen).toEqual([["inner"]]);
    expect(session.get(notes)).toEqual([]);
  });

  test("on a different session wait only for that session", async () => {
    const session = newSession();
    const other = newSession();
    const gate = Promise.withResolvers<void>();
    const log: string[] = [];
    const busy = scriptedClient(async () => {
      await gate.promise;
      log.push("other");
      return { text: "other" };
    });
    const holding = busy.evaluate(inner, { session: other });
    const step = () => {
      log.push("inner");
      return { text: "inner" };
    };
    const client = scriptedClient(callWork, step, { text: "outer" });
    const started = Promise.withResolvers<void>();
    const outer = createPrompt("outer", async ({ adapter }) => {
      const nested = adapter.evaluate(inner, { session: other });
      started.resolve();
      return ToolResult.ok((await nested).text);
    });
    const evaluation = client.evaluate(outer, { session });
    await started.promise;
    gate.resolve();
    expect(await evaluation).toMatchObject({ text: "outer" });
    await holding;
    expect(log).toEqual(["other", "inner"]);
  });

  test("that are started after their handler ended wait their turn", async () => {
    const session = newSession();
    const late = Promise.withResolvers<void>();
    let after: Promise<unknown> | undefined;
    const log: string[] = [];
    const step = (name: string) => () => {
      log.push(name);
      return { text: name };
    };
    const client = scriptedClient(
      callWork,
      async () => {
        late.resolve();
        await Promise.resolve();
        return step("outer")();
      },
      step("late"),
    );
    const outer = createPrompt("outer", ({ adapter }) => {
      after = late.promise.then(() => adapter.evaluate(inner, { session }));
      return ToolResult.ok(null);
    });
    await client.evaluate(outer, { session });
    await after;
    expect(log).toEqual(["outer", "late"]);
  });
});

describe("evaluations on one session", () => {
  /** Creates evaluations that log when they send a request and when they end. */
  const createLog = () => {
    const log: string[] = [];
    const start = (name: string, session: Session) => {
      const client = scriptedClient(async () => {
        log.push(`${name} asks`);
        await Promise.resolve();
        return { text: name };
      });
      return client.evaluate(inner, { session }).finally(() => log.push(`${name} ends`));
    };
    return { log, start };
  };

  test("run one at a time, in order", async () => {
    const session = new Session();
    const { log, start } = createLog();
    await Promise.all([start("a", session), start("b", session), start("c", session)]);
    expect(log).toEqual(["a asks", "a ends", "b asks", "b ends", "c asks", "c ends"]);
  });

  test("continue after one fails", async () => {
    const session = new Session();
    const first = scriptedClient(new Error("down")).evaluate(inner, { session });
    const second = scriptedClient({ text: "up" }).evaluate(inner, { session });
    await expect(first).rejects.toThrow("down");
    expect(await second).toMatchObject({ text: "up" });
  });

  test("do not wait for other sessions", async () => {
    const gate = Promise.withResolvers<void>();
    const busy = scriptedClient(() => gate.promise.then(() => ({ text: "late" })));
    const first = busy.evaluate(inner, { session: new Session() });
    const second = await scriptedClient({ text: "soon" }).evaluate(inner, {
      session: new Session(),
    });
    expect(second.text).toBe("soon");
    gate.resolve();
    expect((await first).text).toBe("late");
  });

  test("that a subscriber starts wait their turn", async () => {
    const session = new Session();
    const { log, start } = createLog();
    let started: Promise<unknown> | undefined;
    session.bus.subscribe("ToolInvoked", () => {
      started ??= start("subscriber's", session);
    });
    const client = scriptedClient(callWork, () => {
      log.push("outer asks");
      return { text: "outer" };
    });
    await client.evaluate(createPrompt("outer"), { session }).finally(() => log.push("outer ends"));
    await started;
    expect(log).toEqual(["outer asks", "outer ends", "subscriber's asks", "subscriber's ends"]);
  });
});

describe("nestedAdapter()", () => {
  const scope = { open: true };
  const session = new Session();
  const given: NestedOptions[] = [];
  const client = scriptedClient();
  const adapter = createNestedAdapter(
    {
      ...client,
      evaluate: (prompt, options) => {
        given.push(options ?? {});
        return client.evaluate(prompt, options);
      },
    },
    session,
    scope,
  );

  test("has the name of the wrapped adapter", () => {
    expect(adapter.name).toBe("scripted");
  });

  test("passes its scope only for the handler's session", async () => {
    const other = new Session();
    await adapter.evaluate(inner, { session, maxTurns: 1 }).catch(() => {});
    await adapter.evaluate(inner, { session: other }).catch(() => {});
    expect(given).toEqual([{ session, maxTurns: 1, [parentScope]: scope }, { session: other }]);
    expect(given.map((options) => parentScope in options)).toEqual([true, false]);
  });

  test("passes invalid options through, so that evaluate() rejects them", async () => {
    await expect(adapter.evaluate(inner, undefined as never)).rejects.toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
    });
  });
});
