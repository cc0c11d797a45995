import { readRecord } from "../../base/json.ts";
import type { ApiProblem } from "../api-problem.ts";
import { createInvalidParameterProblem } from "../validators/openai-wording.ts";
import {
  array,
  boolean,
  either,
  integer,
  joinPath,
  nullable,
  number,
  object,
  oneOf,
  recordOf,
  string,
  unionByTag,
  type Validator,
} from "../validators/validator.ts";
import { attributesShape, filterShape } from "./attribute-filter.ts";

const staticSizes = object({
  max_chunk_size_tokens: integer({ min: 100, max: 4096 }),
  chunk_overlap_tokens: integer({ min: 0 }),
});

const chunkingStrategy = unionByTag({
  auto: object({ type: string() }),
  static: object({ type: string(), static: checkChunkSizes }),
});

/** Validates chunk sizes: chunks may overlap by at most half of their size. */
function checkChunkSizes(value: unknown, path: string): ApiProblem | null {
  const problem = staticSizes(value, path);
  if (problem) return problem;
  const sizes = readRecord({ value }, "value");
  const most = Number(sizes["max_chunk_size_tokens"]) / 2;
  const overlap = Number(sizes["chunk_overlap_tokens"]);
  if (overlap <= most) return null;
  const rule = `a value <= ${most}, half of 'max_chunk_size_tokens'`;
  const code = "integer_above_max_value";
  const where = joinPath(path, "chunk_overlap_tokens");
  return createInvalidParameterProblem(
    where,
    "integer above maximum value",
    rule,
    String(overlap),
    code,
  );
}

const expiresAfter = object({
  anchor: oneOf("last_active_at"),
  days: integer({ min: 1, max: 365 }),
});
const metadata = recordOf(string({ max: 512 }), { keys: 16, keyLength: 64 });
const fileId = string({ min: 1 });

/** Validates the body of `POST /vector_stores`. */
export const newStoreValidator: Validator = object(
  {},
  {
    name: nullable(string()),
    description: nullable(string()),
    file_ids: nullable(array(fileId, { max: 500 })),
    chunking_strategy: nullable(chunkingStrategy),
    expires_after: nullable(expiresAfter),
    metadata: nullable(metadata),
  },
);

/** Validates the body of `POST /vector_stores/{id}`. */
export const storeChangeValidator: Validator = object(
  {},
  { name: nullable(string()), expires_after: nullable(expiresAfter), metadata: nullable(metadata) },
);

/** Validates the body of `POST /vector_stores/{id}/files`. */
export const newFileValidator: Validator = object(
  { file_id: fileId },
  { attributes: nullable(attributesShape), chunking_strategy: nullable(chunkingStrategy) },
);

/** Validates the body of `POST /vector_stores/{id}/files/{file_id}`. */
export const fileChangeValidator: Validator = object({ attributes: nullable(attributesShape) });

/** Validates the body of `POST /vector_stores/{id}/file_batches`. */
export const newBatchValidator: Validator = object(
  {},
  {
    file_ids: array(fileId, { min: 1, max: 2000 }),
    files: array(newFileValidator, { min: 1, max: 2000 }),
    attributes: nullable(attributesShape),
    chunking_strategy: nullable(chunkingStrategy),
  },
);

const share = number({ min: 0, max: 1 });
const weight = number({ min: 0 });

/** Validates the body of `POST /vector_stores/{id}/search`. */
export const searchValidator: Validator = object(
  { query: either({ string: string(), array: array(string(), { min: 1 }) }) },
  {
    filters: nullable(filterShape),
    max_num_results: integer({ min: 1, max: 50 }),
    ranking_options: object(
      {},
      {
        ranker: oneOf("none", "auto", "default-2024-11-15"),
        score_threshold: share,
        // Weights are validated but have no effect, because embeddings are not used.
        hybrid_search: nullable(object({ embedding_weight: weight, text_weight: weight })),
      },
    ),
    rewrite_query: boolean,
  },
);
