import type { ModelAction } from "weakincentives/local";
import {
  createFolder,
  createVectorStore,
  type ProviderFixture,
  startProviderFixture,
} from "./provider-fixture.ts";

/** A provider for client tests: all hosted tools, a function and a schema, in one conversation. */
export interface HostedToolsFixture extends ProviderFixture {
  readonly storeId: string;
  readonly fileId: string;
}

/** The model's script: each hosted tool, then a function call, then an answer. */
export const hostedScript: readonly (readonly ModelAction[])[] = [
  [{ think: "First the numbers." }, { code: "open('owls.txt', 'w').write('12')\nprint(6 * 7)" }],
  [{ search: { file: "owls at night" } }],
  [{ search: { web: "owls" } }],
  [{ search: { open: "https://owls.example/barn" } }],
  [
    { say: { animal: "owl", count: 0 }, citations: [{ hit: 0 }] },
    { call: { name: "look", args: { at: "barn" } } },
  ],
  [{ say: { animal: "owl", count: 12 } }],
];

export const answerSchema = {
  type: "object",
  properties: { animal: { type: "string" }, count: { type: "integer" } },
  required: ["animal", "count"],
  additionalProperties: false,
} as const;

/** Starts a provider with pages, a vector store and the script. */
export async function startHostedToolsFixture(script = hostedScript): Promise<HostedToolsFixture> {
  const web = createFolder({
    "pages.json": JSON.stringify({ "barn.html": "https://owls.example/barn" }),
    "barn.html": "<title>Barn owls</title><p>Barn owls are owls that live in barns.</p>",
  });
  const on = await startProviderFixture(script, { web });
  const file = { text: "Owls hunt at night. They eat mice." };
  const { id, fileIds } = await createVectorStore(on, { "owls.md": file });
  return { ...on, storeId: id, fileId: fileIds[0] ?? "" };
}
