import type { LocalModel } from "weakincentives/local";
import type { WireItem } from "../../../src/openai/wire.ts";
import { type ProviderFixture, startProviderFixture } from "./provider-fixture.ts";
import { openSocketClient, type SocketClient } from "./socket-client.ts";

/** A model that answers with the texts of all messages that it reads. */
const recallModel: LocalModel = {
  async respond({ items }) {
    const texts = items.flatMap((item) => {
      const { content } = item as WireItem;
      return Array.isArray(content) ? content.map(({ text }) => text) : [content];
    });
    return [{ say: texts.filter((text) => typeof text === "string").join(" | ") }];
  },
};

/** Connects to a provider whose model answers with the whole conversation. */
export async function openRecallSocket(): Promise<
  ProviderFixture & { readonly client: SocketClient }
> {
  const fixture = await startProviderFixture([], { model: recallModel });
  return { ...fixture, client: await openSocketClient(fixture.url) };
}
