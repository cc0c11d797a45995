import { expect, test } from "vitest";
import { definePrompt } from "../../prompt/define-prompt.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { toAdapterSettings } from "../adapter-options.ts";
import { webSearchCodec } from "../codecs/web-search.ts";
import { type LastRequest, RequestBaseCache, type RequestState } from "./request-base-cache.ts";

const state: RequestState = {
  env: { model: "gpt-5.2", containerId: null },
  serverThreshold: null,
};
const rendered = definePrompt({ name: "test:one", instructions: "Search." }).render();

function createSettings(
  hostedToolCodecs?: Parameters<typeof toAdapterSettings>[0]["hostedToolCodecs"],
) {
  return toAdapterSettings({
    model: "gpt-5.2",
    clientConfig: { apiKey: "sk-a-long-secret" },
    hostedToolCodecs,
  });
}

test("the next evaluation with the same prompt gets the serialized request of the one before", () => {
  const settings = createSettings();
  const shared: LastRequest = { current: null };
  const first = new RequestBaseCache(settings, shared);
  expect(first.isKnown(rendered)).toBe(false);
  const base = first.get({ rendered, toolChoice: "auto" }, state);
  const second = new RequestBaseCache(settings, shared);
  expect(second.isKnown(rendered)).toBe(true);
  const again = second.get({ rendered, toolChoice: "auto" }, state);
  expect(again.value).toBe(base.value);
  expect(again).toEqual(base);
  expect(again.secrets).toEqual(["sk-a-long-secret"]);
});

test("a request is created again if the prompt, the tool choice, the container or the threshold differ", () => {
  const settings = createSettings();
  const cache = new RequestBaseCache(settings, { current: null });
  const base = cache.get({ rendered, toolChoice: "auto" }, state);
  const other = definePrompt({ name: "test:two", instructions: "Search." }).render();
  const changes = [
    [{ rendered: other, toolChoice: "auto" }, state],
    [{ rendered, toolChoice: "none" }, state],
    [
      { rendered, toolChoice: "auto" },
      { ...state, env: { ...state.env, containerId: "c1" } },
    ],
    [
      { rendered, toolChoice: "auto" },
      { ...state, serverThreshold: 5_000 },
    ],
  ] as const;
  for (const [request, changed] of changes) {
    expect(cache.get(request, changed)).not.toBe(base);
    expect(cache.get(request, changed)).toBe(cache.get(request, changed));
  }
  expect(
    cache.get({ rendered, toolChoice: "auto" }, { ...state, serverThreshold: 5_000 }).value,
  ).toMatchObject({
    context_management: [{ type: "compaction", compact_threshold: 5_000 }],
  });
});

test("a codec of the caller's serializes its tools for each evaluation", () => {
  let count = 0;
  const codec = {
    ...webSearchCodec,
    serialize: () => ({ type: "web_search", user_location: { city: `City ${++count}` } }),
  };
  const settings = createSettings([codec]);
  const searching = definePrompt({
    name: "test:search",
    instructions: "Search.",
    hostedTools: [webSearchTool()],
  }).render();
  const shared: LastRequest = { current: null };
  const texts = [1, 2].map(
    () =>
      new RequestBaseCache(settings, shared).get({ rendered: searching, toolChoice: "auto" }, state)
        .text,
  );
  expect(texts[0]).toContain("City 1");
  expect(texts[1]).toContain("City 2");
  expect(shared.current).toBeNull();
});
