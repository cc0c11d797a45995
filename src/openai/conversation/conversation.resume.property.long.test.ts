import fc from "fast-check";
import { expect, it } from "vitest";
import { createTaskPrompt, lookTool } from "../../../tests/support/openai-run.ts";
import { type KilledRunOptions, KilledRuns } from "../../../tests/support/resume/killed-runs.ts";
import { createUsage } from "../../../tests/support/resume/look-turn.ts";
import { repeatableRoutes } from "../../../tests/support/resume/repeatable-routes.ts";
import {
  applyPatchCall,
  functionCall,
  message,
  reasoning,
  urlCitation,
  type WireAnswer,
  webSearchCall,
} from "../../../tests/support/wire-server.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import type { Session } from "../../session/session.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import type { OpenAIAdapter } from "../adapter.ts";
import type { WireItem } from "../wire.ts";

/** A part of a response. Its ids depend on its place in the script. */
const part = fc.constantFrom("call", "call", "patch", "search", "reasoning", "text", "compaction");
const turns = fc.array(fc.array(part, { maxLength: 4 }), { maxLength: 5 });
const tokens = fc.constantFrom(0, 20, 60, 1500);

/** Creates scripts of one evaluation. Their ids begin at the turn `offset`. */
const createScript = (offset = 0) =>
  fc
    .tuple(turns, fc.array(tokens, { minLength: 6, maxLength: 6 }))
    .map(([all, sizes]): readonly WireAnswer[] => [
      ...all.map((parts, turn) => toAnswer([...parts, "call"], offset + turn, sizes[turn] ?? 0)),
      { output: [message("Done.")], usage: createUsage(sizes[5] ?? 0) },
    ]);

/** The answers of an earlier evaluation in the session, if there is one, and whether the killed one continues it. */
const earlier = fc.option(
  fc.record({ answers: createScript(100), continues: fc.boolean(), hasInput: fc.boolean() }),
  { freq: 2 },
);

function toAnswer(parts: readonly string[], turn: number, size: number): WireAnswer {
  const output = parts.map((kind, index): WireItem => {
    const id = `${turn}_${index}`;
    if (kind === "call") return functionCall("look", {}, `call_${id}`);
    if (kind === "search") return webSearchCall(`owls ${id}`, ["https://owls.test"]);
    if (kind === "reasoning") return reasoning(`rs_${id}`);
    if (kind === "text") return message("See.", [urlCitation("https://owls.test", "Owls", [0, 3])]);
    if (kind === "patch")
      return applyPatchCall({ type: "create_file", path: `${id}.txt`, diff: "+one\n" });
    return { id: `cmp_${id}`, type: "compaction", encrypted_content: `sealed ${id}` };
  });
  return { output, usage: createUsage(size) };
}

const adapters = fc.constantFrom<NonNullable<KilledRunOptions["adapter"]>>(
  {},
  { modelConfig: { store: false } },
  { compaction: { thresholdTokens: 45 } },
  { compaction: { strategy: "server", thresholdTokens: 1000 } },
);

function createPrompt() {
  const patch = applyPatchTool({}, { filesystem: new InMemoryFilesystem() });
  return createTaskPrompt({ tools: [lookTool], hostedTools: [webSearchTool(), patch] });
}

/** Returns the options of a run after an earlier evaluation. */
function continueAfter({ continues, hasInput }: { continues: boolean; hasInput: boolean }) {
  return {
    before: async (before: OpenAIAdapter, session: Session) => {
      await before.evaluate(createPrompt(), { session });
    },
    evaluate: { continue: continues, ...(hasInput && { input: "By size." }) },
  };
}

it("sends the same requests after two kills at any records, for any script", async () => {
  const kills = fc.tuple(fc.nat(), fc.nat());
  await fc.assert(
    fc.asyncProperty(createScript(), earlier, adapters, kills, async (answers, past, ...rest) => {
      const [adapter, [one, other]] = rest;
      await using runs = await KilledRuns.start({
        ...{ script: [...(past?.answers ?? []), ...answers], routes: repeatableRoutes },
        ...{ adapter, createPrompt, ...(past && continueAfter(past)) },
      });
      const { whole, first } = await runs.runWhole();
      const killed = first + (one % (whole.records.length - first + 1));
      const second = await runs.expectSame(whole.records, killed);
      const isSame = second.strange.length === 0; // no call was lost
      const count = killed + (other % (second.records.length - killed + 1));
      if (isSame) await runs.expectSame(second.records, count);
      expect(whole.response.text).toBe("Done.");
    }),
    { numRuns: 150 },
  );
});
