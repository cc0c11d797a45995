import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomIds } from "../../src/local/ids.ts";
import { defaultChunkSizes } from "../../src/local/search/split-into-chunks.ts";
import {
  type NewVectorStore,
  type VectorStoreSearch,
  VectorStores,
} from "../../src/local/search/vector-stores.ts";
import { openDatabase } from "../../src/local/store/database.ts";
import { FileStore } from "../../src/local/store/file-store.ts";
import { fakeClock } from "../../src/testing/fake-clock.ts";

/** A store with default settings. */
export const defaultStore: NewVectorStore = {
  name: null,
  description: null,
  expiresDays: null,
  metadata: {},
  fileIds: [],
  sizes: defaultChunkSizes,
};

/** Files with different topics. */
export const birds = {
  "owl.md":
    "# Owls\nOwls are nocturnal birds of prey. They hunt mice in the dark, and fly without noise.",
  "penguin.txt": "Penguins are flightless birds. They swim in cold seas and eat krill.",
  "falcon.html":
    "<title>Falcons</title><p>The peregrine falcon is the fastest bird: it dives at 320 km/h.",
  "install.md":
    "# Setting up\nThe program is installed by `npm install`. Configure the café's address first.",
  "tokyo.txt": "東京都は日本の首都です。フクロウは夜に飛びます。",
};

/** Opens stores in a new folder, or in `given`, with functions to fill and search them. */
export function openStores(given?: string) {
  const folder = given ?? mkdtempSync(join(tmpdir(), "wink-search-"));
  const database = openDatabase(folder);
  const clock = fakeClock({ now: 1_700_000_000_000 });
  const faults: unknown[] = [];
  const onFault = (error: unknown) => void faults.push(error);
  const files = new FileStore({ database, dataDir: folder, clock, ids: randomIds() });
  const stores = new VectorStores({ database, files, clock, ids: randomIds(), onFault });
  const upload = (filename: string, content: string | Uint8Array): string => {
    const path = join(folder, "arriving");
    writeFileSync(path, content);
    return files.add({ path, bytes: Buffer.byteLength(content), filename, purpose: "assistants" })
      .id;
  };
  const attach = (store: string, filename: string, content: string, attributes = {}): string => {
    const fileId = upload(filename, content);
    stores.files.attach(store, { fileId, attributes, sizes: defaultChunkSizes });
    return fileId;
  };
  const search = (query: string | readonly string[], given: Partial<VectorStoreSearch> = {}) =>
    stores.search({
      vectorStoreIds: [],
      query,
      maxResults: 10,
      filters: null,
      scoreThreshold: 0,
      ...given,
    });
  return {
    ...{ database, clock, faults, files, stores, upload, attach, search },
    async [Symbol.asyncDispose]() {
      await stores.close();
      database[Symbol.dispose]();
      if (given === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
