import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isPlainObject } from "../../src/base/freeze.ts";
import { readRecord } from "../../src/base/json.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import { type ProviderFixture, startProviderFixture } from "../support/local/provider-fixture.ts";
import { adaptRequest } from "../support/local/replay-request.ts";
import {
  createForm,
  createLocalPath,
  createUpload,
  findShapeProblems,
  listTypeNames,
} from "../support/local/replay-resource.ts";

/** Recorded requests for stored resources: containers, conversations, files, uploads, vector stores, responses. */

interface Exchange {
  readonly id: string;
  readonly url: string;
  readonly method: string;
  readonly real: string;
  readonly status: number;
  readonly request: unknown;
  readonly response: unknown;
}

const base = "https://api.openai.com/v1";
const shared = process.env["WINK_SHARED"] ?? "";
const exchanges = readFileSync(join(shared, "recorded/dev.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line): Exchange => JSON.parse(line))
  .filter(({ url, real }) => url.startsWith(base) && real !== "unproven")
  .map((exchange) => ({ ...exchange, path: exchange.url.slice(base.length) }))
  .filter(({ path }) =>
    /^\/(containers|conversations|files|uploads|vector_stores|responses\/resp_)/.test(path),
  );

type Kept = (typeof exchanges)[number];

/** Explains why an exchange is skipped; `null` if it is not. */
function findSkipReason({ path, request, response }: Kept): string | null {
  if (/^\/responses.*\/cancel$/.test(path)) return "nothing runs in the background";
  if (isPlainObject(response) && response["background"] === true)
    return "nothing ran in the background";
  if (path.startsWith("/uploads") && request === null && !path.endsWith("/cancel"))
    return "its body was not recorded";
  return response === null ? "its answer was not recorded" : null;
}

const asked = exchanges.filter((exchange) => findSkipReason(exchange) === null);

/** Sends a recorded request: files as forms, other bodies as JSON. */
async function sendRecorded(
  { method, path, status, request, response }: Kept,
  on: ProviderFixture,
) {
  const isGone = status === 404;
  const here = isGone ? path : await createLocalPath(path, on);
  if (method !== "POST") return await on.ask(`${method} ${here}`);
  if (isPlainObject(request)) return await on.ask(`POST ${here}`, await adaptRequest(request, on));
  if (path.endsWith("/cancel")) return await on.ask(`POST ${here}`);
  const refused = { body: createForm("recorded.txt", "world_domination") };
  const upload =
    status === 400 ? refused : createUpload(request, isPlainObject(response) ? response : {});
  const answer = await on.fetch(on.url + here, { method, ...upload });
  return { status: answer.status, body: (await answer.json()) as WireItem };
}

/** Returns an error's fields; omits a missing `param`. */
function getErrorFields({ param, ...error }: WireItem): WireItem {
  return param === undefined ? error : { ...error, param };
}

describe("a recorded request for a stored resource", () => {
  test("is skipped for known reasons only", () => {
    const reasons = exchanges.map(findSkipReason).filter((reason) => reason !== null);
    expect([...new Set(reasons)].toSorted()).toEqual([
      "its answer was not recorded",
      "its body was not recorded",
      "nothing ran in the background",
      "nothing runs in the background",
    ]);
    expect(asked.length).toBeGreaterThan(140);
  });

  test.each(asked.map((one) => [`${one.method} ${one.id}`, one] as const))(
    "%s gets a response of the same shape",
    async (_id, exchange) => {
      const on = await startProviderFixture(() => [{ think: "Hm." }, { say: "Hello." }]);
      const { status, body } = await sendRecorded(exchange, on);
      expect({ status, body }).toMatchObject({ status: exchange.status });
      const { response } = exchange;
      if (!isPlainObject(response)) return expect(body).toHaveProperty("text");
      const { detail: _old, ...theirs } = response;
      expect(findShapeProblems(theirs, body)).toEqual([]);
      expect(listTypeNames(body)).toEqual(expect.arrayContaining([...listTypeNames(theirs)]));
      expect(readRecord(body, "error")).toMatchObject(getErrorFields(readRecord(theirs, "error")));
    },
  );
});
