import { recordAt } from "../../base/reading.ts";
import type { ApiProblem } from "../api-problem.ts";
import { phrase } from "../validators/openai-wording.ts";
import {
  byType,
  decimal,
  either,
  flag,
  integer,
  joinPath,
  list,
  map,
  maybe,
  object,
  oneOf,
  type Shape,
  text,
} from "../validators/shapes.ts";
import { attributesShape, filterShape } from "./attribute-filter.ts";

const staticSizes = object({
  max_chunk_size_tokens: integer({ min: 100, max: 4096 }),
  chunk_overlap_tokens: integer({ min: 0 }),
});

const chunkingStrategy = byType({
  auto: object({ type: text() }),
  static: object({ type: text(), static: checkChunkSizes }),
});

/** Validates chunk sizes: chunks may overlap by at most half of their size. */
function checkChunkSizes(value: unknown, path: string): ApiProblem | null {
  const problem = staticSizes(value, path);
  if (problem) return problem;
  const sizes = recordAt({ value }, "value");
  const most = Number(sizes["max_chunk_size_tokens"]) / 2;
  const overlap = Number(sizes["chunk_overlap_tokens"]);
  if (overlap <= most) return null;
  const rule = `a value <= ${most}, half of 'max_chunk_size_tokens'`;
  const code = "integer_above_max_value";
  const where = joinPath(path, "chunk_overlap_tokens");
  return phrase(where, "integer above maximum value", rule, String(overlap), code);
}

const expiresAfter = object({
  anchor: oneOf("last_active_at"),
  days: integer({ min: 1, max: 365 }),
});
const metadata = map(text({ max: 512 }), { keys: 16, keyLength: 64 });
const fileId = text({ min: 1 });

/** Validates the body of `POST /vector_stores`. */
export const newStoreShape: Shape = object(
  {},
  {
    name: maybe(text()),
    description: maybe(text()),
    file_ids: maybe(list(fileId, { max: 500 })),
    chunking_strategy: maybe(chunkingStrategy),
    expires_after: maybe(expiresAfter),
    metadata: maybe(metadata),
  },
);

/** Validates the body of `POST /vector_stores/{id}`. */
export const storeChangeShape: Shape = object(
  {},
  { name: maybe(text()), expires_after: maybe(expiresAfter), metadata: maybe(metadata) },
);

/** Validates the body of `POST /vector_stores/{id}/files`. */
export const newFileShape: Shape = object(
  { file_id: fileId },
  { attributes: maybe(attributesShape), chunking_strategy: maybe(chunkingStrategy) },
);

/** Validates the body of `POST /vector_stores/{id}/files/{file_id}`. */
export const fileChangeShape: Shape = object({ attributes: maybe(attributesShape) });

/** Validates the body of `POST /vector_stores/{id}/file_batches`. */
export const newBatchShape: Shape = object(
  {},
  {
    file_ids: list(fileId, { min: 1, max: 2000 }),
    files: list(newFileShape, { min: 1, max: 2000 }),
    attributes: maybe(attributesShape),
    chunking_strategy: maybe(chunkingStrategy),
  },
);

const share = decimal({ min: 0, max: 1 });
const weight = decimal({ min: 0 });

/** Validates the body of `POST /vector_stores/{id}/search`. */
export const searchShape: Shape = object(
  { query: either({ string: text(), array: list(text(), { min: 1 }) }) },
  {
    filters: maybe(filterShape),
    max_num_results: integer({ min: 1, max: 50 }),
    ranking_options: object(
      {},
      {
        ranker: oneOf("none", "auto", "default-2024-11-15"),
        score_threshold: share,
        // Weights are validated but have no effect, because embeddings are not used.
        hybrid_search: maybe(object({ embedding_weight: weight, text_weight: weight })),
      },
    ),
    rewrite_query: flag,
  },
);
