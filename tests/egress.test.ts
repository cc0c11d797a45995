import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { codeInterpreterTool, type EgressReport, Session } from "weakincentives";
import { MemorySessionStore } from "./support/memory-session-store.ts";
import { clients } from "./support/openai-clients.ts";
import { createTaskPrompt, lookTool, type RunOptions, runScript } from "./support/openai-run.ts";
import {
  codeInterpreterCall,
  functionCall,
  message,
  type WireScript,
} from "./support/wire-server.ts";

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const deleted = { json: { id: "c", object: "container.deleted", deleted: true } };
const prompt = () => createTaskPrompt({ tools: [lookTool] });
const looks: WireScript = [
  [functionCall("look", {}, "call_1"), functionCall("look", {}, "call_2")],
  [functionCall("look", {}, "call_3")],
  [message("Done.")],
];

/** Evaluates, and returns the report with the requests that the server has seen. */
async function run(script: WireScript, options: RunOptions = {}) {
  const { response, requests, ...rest } = await runScript(script, options);
  if (!response) throw rest.error;
  return { ...rest, response, requests, egress: response.egress };
}

/** Returns the endpoints, sizes and hashes of requests. */
const summarize = (egress: EgressReport) =>
  egress.requests.map(({ endpoint, bytes, sha256 }) => [endpoint, bytes, sha256]);

describe.each(clients)("the egress report, with %s", (_, client) => {
  test("has every request with the size and the hash of the body that the server received", async () => {
    const { egress, requests } = await run(looks, { prompt: prompt(), client });
    expect(summarize(egress)).toEqual(
      requests.map(({ method, path, text }) => [
        `${method} ${path}`,
        Buffer.byteLength(text),
        hash(text),
      ]),
    );
    expect(egress.requests.map(({ toolOutputs }) => toolOutputs)).toEqual([
      [],
      ["call_1", "call_2"],
      ["call_3"],
    ]);
    expect(egress).toMatchObject({ verdict: "stored at the provider" });
  });

  test("has retries, whose tool outputs are listed with the first attempt only", async () => {
    const failure = { status: 503, json: { error: { message: "Busy." } } };
    const [first = [], second = [], third = []] = looks;
    const { egress } = await run([first, failure, second, third], {
      ...{ prompt: prompt(), client },
      adapter: { modelConfig: { store: false } },
    });
    expect(egress.requests.map(({ toolOutputs }) => toolOutputs.length)).toEqual([0, 2, 0, 1]);
    expect(egress.verdict).toBe("nothing stored");
  });

  test.each([
    [true, "nothing stored", [false, false]],
    [false, "stored at the provider", [true]],
  ] as const)(
    "says with zdrMode %s that there is %s after code ran in the provider's container",
    async (zdrMode, verdict, stored) => {
      const { egress } = await run([[codeInterpreterCall("1 + 1"), message("Two.")]], {
        prompt: createTaskPrompt({ hostedTools: [codeInterpreterTool()] }),
        adapter: { compaction: { zdrMode }, modelConfig: { store: false } },
        server: { routes: { "DELETE /containers/cntr_1": deleted } },
        client,
      });
      expect([egress.verdict, egress.requests.map((request) => request.stored)]).toEqual([
        verdict,
        stored,
      ]);
    },
  );
});

describe("the egress report", () => {
  test("is plain, frozen data that is computed once, and part of the JSON of a response", async () => {
    const { response } = await run([[message("Hi.")]]);
    const { egress } = response;
    expect(response.egress).toBe(egress);
    expect([egress, egress.requests, egress.requests[0]].every(Object.isFrozen)).toBe(true);
    expect(JSON.parse(JSON.stringify(response)).egress).toEqual(egress);
    expect(structuredClone(egress)).toEqual(egress);
  });

  test("says that containers are stored whose deletion failed, with zero data retention", async () => {
    const refused = { status: 403, json: { error: { message: "No." } } };
    const { egress } = await run([[codeInterpreterCall("1 + 1"), message("Two.")]], {
      prompt: createTaskPrompt({ hostedTools: [codeInterpreterTool()] }),
      adapter: { compaction: { zdrMode: true } },
      server: { routes: { "DELETE /containers/cntr_1": refused } },
    });
    expect(egress.verdict).toBe("stored at the provider");
    expect(egress.requests.at(-1)).toMatchObject({ endpoint: "DELETE /containers/cntr_1" });
  });

  test("is empty for a stored answer, for which nothing is sent", async () => {
    const store = new MemorySessionStore();
    const session = new Session({ id: "s", store });
    const { egress } = await run([[message("Hi.")]], { evaluate: { session } });
    expect(egress.requests).toHaveLength(1);
    await session.close();
    const again = await Session.open(store, "s");
    const { egress: none } = await run([], { evaluate: { session: again, resume: true } });
    expect(none).toEqual({ requests: [], verdict: "nothing stored" });
  });

  test("covers one evaluation, also if the session continues", async () => {
    const session = new Session();
    const [first = [], ...others] = looks;
    await run([first, ...others], { prompt: prompt(), evaluate: { session } });
    const { egress } = await run([[message("Yes.")]], {
      ...{ prompt: prompt(), evaluate: { session, continue: true, input: "Again?" } },
    });
    expect(egress.requests).toMatchObject([{ endpoint: "POST /responses", toolOutputs: [] }]);
  });
});
