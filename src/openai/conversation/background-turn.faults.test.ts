import { expect, test } from "vitest";
import { clients } from "../../../tests/support/openai-clients.ts";
import { runScript } from "../../../tests/support/openai-run.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";

test.each(clients)(
  "a background turn reports an answer that is no response on %s",
  async (_, client) => {
    const adapter = { delivery: "background", throttle: { maxAttempts: 1 } } as const;
    const { error, requests } = await runScript([{ json: null }], { client, adapter });
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "response" });
    expect(requests.map(({ path }) => path)).toEqual(["/responses"]);
  },
);
