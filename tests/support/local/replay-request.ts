import { isPlainObject } from "../../../src/base/freeze.ts";
import { readRecords, readString } from "../../../src/base/json.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import { createVectorStore, findItem, type ProviderFixture } from "./provider-fixture.ts";

/** Returns why a recorded request cannot be replayed on the local provider, or `null`. */
export function reasonToSkip(request: WireItem): string | null {
  const missing = ["background", "prompt"].find((key) => request[key]);
  if (missing !== undefined) return `the provider has no ${missing}`;
  const items = readRecords(request, "input");
  const types = [...readRecords(request, "tools"), ...items].map((one) => readString(one, "type"));
  const foreign = types.find((type) => /^(mcp|computer|image_generation)/.test(type));
  if (foreign !== undefined) return `the provider has no ${foreign}`;
  if (types.includes("item_reference")) return "it names what another server stored";
  const bare = items.some(({ type, encrypted_content: sealed }) => type === "reasoning" && !sealed);
  if (bare) return "it names thoughts that another server stored";
  const isPatched = types.includes("apply_patch_call_output");
  if (isPatched && request["previous_response_id"])
    return "it answers a patch that another server asked for";
  return null;
}

/** The files of each vector store, by its id. */
type StoreFiles = Parameters<typeof createVectorStore>[1];

/** Adapts a recorded request to the local provider: creates the resources that it names first. */
export async function adaptRequest(
  request: WireItem,
  on: ProviderFixture,
  files: StoreFiles = {},
): Promise<WireItem> {
  const text = JSON.stringify(request);
  const seals = await createSeals(on);
  const ids = new Map<string, string>();
  for (const [, id = ""] of text.matchAll(/"(cntr_\w+|conv_\w+|vs_\w+|file-\w+)"/g))
    if (!ids.has(id)) ids.set(id, await createResource(id, on, files));
  const named = text.replaceAll(/"(cntr_\w+|conv_\w+|vs_\w+|file-\w+)"/g, (_all, id) =>
    JSON.stringify(ids.get(id)),
  );
  const body: WireItem = JSON.parse(named, (key, value: unknown) => {
    if (key === "compact_threshold") return 1_000_000_000; // the local provider counts tokens differently
    if (!isPlainObject(value) || typeof value["encrypted_content"] !== "string") return value;
    const { type } = value;
    return {
      ...value,
      encrypted_content: type === "compaction" ? seals.compaction : seals.thought,
    };
  });
  return { ...body, ...(await storePreviousResponse(request, on)) };
}

/** Returns values that this server encrypted. */
async function createSeals({ ask }: ProviderFixture) {
  const include = ["reasoning.encrypted_content"];
  const thinking = await ask("POST /responses", { model: "thinker", input: "Hi.", include });
  const compacting = await ask("POST /responses/compact", { model: "any", input: "Hi." });
  return {
    thought: findItem(thinking.body, "reasoning")["encrypted_content"],
    compaction: findItem(compacting.body, "compaction")["encrypted_content"],
  };
}

async function createResource(id: string, on: ProviderFixture, files: StoreFiles): Promise<string> {
  const { ask, fetch, url } = on;
  if (id.startsWith("cntr_")) return readId(await ask("POST /containers", { name: id }));
  if (id.startsWith("conv_")) return readId(await ask("POST /conversations", {}));
  if (id.startsWith("vs_")) return (await createVectorStore(on, files)).id;
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", new File(["Owls."], "owls.txt"));
  const response = await fetch(`${url}/files`, { method: "POST", body: form });
  return readString(Object(await response.json()), "id");
}

function readId({ body }: { readonly body: WireItem }): string {
  return readString(body, "id");
}

/** Creates a stored response with the calls that this request answers. */
async function storePreviousResponse(
  request: WireItem,
  { ask }: ProviderFixture,
): Promise<WireItem> {
  if (!request["previous_response_id"]) return {};
  const items = readRecords(request, "input");
  const before = { model: "caller", input: JSON.stringify(items), tools: request["tools"] ?? [] };
  return { previous_response_id: readId(await ask("POST /responses", before)) };
}
