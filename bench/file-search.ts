/** Searches 20,000 chunks of text, side by side with the bare FTS5 query for the same words. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { systemClock } from "../src/base/clock.ts";
import { randomIds } from "../src/local/ids.ts";
import { extractTerms, toMatchExpression } from "../src/local/search/extract-terms.ts";
import { defaultChunkSizes } from "../src/local/search/split-into-chunks.ts";
import { VectorStores } from "../src/local/search/vector-stores.ts";
import { type Database, openDatabase } from "../src/local/store/database.ts";
import { compareSides } from "./report/figure.ts";
import { countRounds, printResult } from "./report/part-result.ts";

const FILES = 1_000;
const CHUNKS_PER_FILE = 20;
const QUERIES = 200;
const WORDS = 20_000;

/** The 95th percentiles of one round, in milliseconds. */
interface SearchRound {
  readonly ours: number;
  readonly reference: number;
}

const facts = {
  what: "file search p95 over 20,000 chunks to bare FTS5",
  unit: "ms",
  goal: 1.5,
} as const;
printResult({ figures: [compareSides(facts, await measureFileSearch(countRounds(5)))] });

async function measureFileSearch(rounds: number): Promise<readonly SearchRound[]> {
  const folder = mkdtempSync(join(tmpdir(), "wink-bench-"));
  using database = openDatabase(folder);
  try {
    const { stores, id } = await fill(database, folder);
    const bare = database.prepare(
      "SELECT rowid, rank FROM vector_store_index_1 WHERE vector_store_index_1 MATCH ? ORDER BY rank LIMIT 10",
    );
    const queries = Array.from({ length: QUERIES }, (_, index) => wordsFrom(index * 7919, 3));
    const oneRound = (): SearchRound => {
      const times = queries.map((query) => {
        const expression = toMatchExpression(extractTerms(query)) ?? "";
        return {
          bare: measure(() => bare.all(expression)),
          ours: measure(() => search(stores, id, query)),
        };
      });
      return {
        ours: percentile95(times.map((time) => time.ours)),
        reference: percentile95(times.map((time) => time.bare)),
      };
    };
    oneRound(); // the first round reads from the disk
    const measured = Array.from({ length: rounds }, oneRound);
    await stores.close();
    return measured;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(database: Database, folder: string) {
  const createPath = (id: string) => join(folder, `${id}.txt`);
  const stores = new VectorStores({
    database,
    clock: systemClock,
    ids: randomIds(),
    files: {
      get: (id) => ({ filename: `${id}.txt`, bytes: statSync(createPath(id)).size }),
      open: (id) => open(createPath(id)),
    },
    onFault: (error) => {
      throw error;
    },
  });
  const fileIds = Array.from({ length: FILES }, (_, index) => `file-${index}`);
  // Pieces of 100 tokens without overlap: about eighty words each.
  for (const [index, id] of fileIds.entries()) {
    writeFileSync(createPath(id), wordsFrom(index * 104_729, CHUNKS_PER_FILE * 85));
  }
  const { id } = stores.create({
    name: null,
    description: null,
    expiresDays: null,
    metadata: {},
    fileIds: [],
    sizes: defaultChunkSizes,
  });
  const sizes = { maxTokens: 100, overlapTokens: 0 };
  stores.files.attachBatch(
    id,
    fileIds.map((fileId) => ({ fileId, sizes, attributes: {} })),
  );
  await stores.waitUntilIdle();
  const { chunk_count: count } =
    database.prepare("SELECT chunk_count FROM vector_stores").get() ?? {};
  if (typeof count !== "number" || count < FILES * CHUNKS_PER_FILE) {
    throw new Error(`only ${count} pieces were indexed`);
  }
  return { stores, id };
}

function search(stores: VectorStores, id: string, query: string): void {
  const hits = stores.search({
    vectorStoreIds: [id],
    query,
    maxResults: 10,
    filters: null,
    scoreThreshold: 0,
  });
  if (hits.length === 0) throw new Error(`no hits for ${query}`);
}

/** A fixed vocabulary in which a few words are frequent and most are rare, as in natural language. */
function wordsFrom(seed: number, count: number): string {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: count }, () => `w${Math.floor(WORDS ** next())}`).join(" ");
}

function measure(work: () => void): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}

function percentile95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
}
