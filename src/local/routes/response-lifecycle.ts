import type { Clock } from "../../base/clock.ts";
import { readRecords } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem, notFound } from "../api-problem.ts";
import {
  checkQuery,
  readListQuery,
  readQueryFlag,
  readQueryInteger,
  readQueryList,
} from "../http/check-query.ts";
import type { RouteContext } from "../http/route-context.ts";
import type { RouteRequest } from "../http/route-request.ts";
import type { RouteTable } from "../http/route-table.ts";
import type { BackgroundResponses } from "../responses/background/background-responses.ts";
import { applyIncludes } from "../responses/check/apply-includes.ts";
import { createIncludeValidator } from "../responses/check/body.ts";
import {
  createReplaySteps,
  type Replay,
  type ResponseWithOutput,
} from "../responses/events/replay-steps.ts";
import { toListedItem } from "../responses/to-listed-item.ts";
import { toPage } from "../store/paging.ts";
import type { ResponseStore, StoredResponse } from "../store/response-store.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";
import { assertValid } from "../validators/validator.ts";
import { respondWithSteps, showSteps } from "./respond-with-steps.ts";

/** Services of the routes of existing responses. */
export interface ResponseLifecycleServices {
  readonly store: ResponseStore;
  readonly background: BackgroundResponses;
  readonly catalog: ToolCatalog;
  readonly clock: Clock;
}

/** `/v1/responses/{id}` and its subresources: retrieves, cancels and deletes responses. */
export function responseLifecycleRoutes(
  routes: RouteTable,
  services: ResponseLifecycleServices,
): void {
  const { store, background, catalog } = services;
  const isIncludable = createIncludeValidator(catalog);
  const readInclude = (request: RouteRequest): ReadonlySet<string> => {
    const values = readQueryList(request, "include");
    assertValid(isIncludable, values, "include");
    return new Set(values);
  };
  routes.get("/v1/responses/:id", (context) => {
    checkQuery(context.req, "include[]", "include_obfuscation", "starting_after", "stream");
    return retrieve(context, readInclude(context.req), services);
  });
  routes.delete("/v1/responses/:id", async (context) => {
    checkQuery(context.req);
    const id = context.req.param("id");
    await background.cancel(id);
    if (!store.delete(id)) throw notFound("Response", id);
    return context.json({ id, object: "response", deleted: true });
  });
  routes.post("/v1/responses/:id/cancel", async (context) => {
    checkQuery(context.req);
    const id = context.req.param("id");
    await background.cancel(id);
    const found = store.get(id);
    if (!found) throw notFound("Response", id);
    const { background: isBackground, status } = found.response;
    if (isBackground !== true) throw new ApiProblem(400, "Cannot cancel a synchronous response.");
    if (status !== "cancelled")
      throw new ApiProblem(400, `Cannot cancel ${describeStatus(status)} response.`);
    return context.json(showStored(found, new Set(), catalog).response);
  });
  routes.get("/v1/responses/:id/input_items", (context) => {
    const id = context.req.param("id");
    const query = readListQuery(context.req, ["include[]"]);
    if (!store.has(id)) throw notFound("Response", id);
    const include = readInclude(context.req);
    const { items, hasMore } = store.readInput(id, query);
    const shown = items.map(({ item, id: itemId }) => ({
      ...toListedItem(applyIncludes(item, include, catalog)),
      id: itemId,
    }));
    return context.json(toPage(shown, hasMore));
  });
}

/** Responds with a response that is running or stored, as JSON or as a stream. */
function retrieve(
  context: RouteContext,
  more: ReadonlySet<string>,
  { store, background, catalog, clock }: ResponseLifecycleServices,
): Response {
  const id = String(context.req.param("id"));
  const isStream = readQueryFlag(context.req, "stream");
  readQueryFlag(context.req, "include_obfuscation"); // this server never adds obfuscation
  const after = readQueryInteger(context.req, "starting_after", { min: 0 });
  if (after !== null && !isStream) throw createCursorProblem();
  const startingAfter = after ?? -1;
  const options = { catalog, clock, startingAfter };
  const run = background.find(id);
  if (run) {
    const { request, response } = run.started;
    const include = new Set([...request.include, ...more]);
    const readShown = (signal: AbortSignal) => showSteps(run.readSteps(signal), include, catalog);
    if (isStream) return respondWithSteps(context, readShown, options);
    const output = run.items.map((item) => applyIncludes(item, include, catalog));
    return context.json({ ...response, status: "in_progress", output });
  }
  const found = store.get(id);
  if (!found) throw notFound("Response", id);
  const { response, replay } = showStored(found, more, catalog);
  if (!isStream) return context.json(response);
  return respondWithSteps(context, () => createReplaySteps(response, replay), options);
}

/** Returns a stored response and its replay with the `include` values of its request and more. */
function showStored(
  { response, include, output, replay }: StoredResponse,
  more: ReadonlySet<string>,
  catalog: ToolCatalog,
): { readonly response: ResponseWithOutput; readonly replay: Replay } {
  if (include === null)
    return { response: { ...response, output: readRecords(response, "output") }, replay: {} };
  const all = new Set([...include, ...more]);
  const show = (items: readonly WireItem[]) =>
    items.map((item) => applyIncludes(item, all, catalog));
  const items = replay && "items" in replay ? { items: show(readRecords(replay, "items")) } : {};
  return { response: { ...response, output: show(output) }, replay: { ...replay, ...items } };
}

function createCursorProblem(): ApiProblem {
  const message = "The parameter 'starting_after' is only supported if 'stream' is true.";
  return new ApiProblem(400, message, { param: "starting_after", code: "unsupported_parameter" });
}

function describeStatus(status: unknown): string {
  return status === "incomplete" ? "an incomplete" : `a ${status}`;
}
