import { isPlainObject } from "../../base/freeze.ts";
import {
  type Row,
  readNullableNumber,
  readNullableText,
  readNumberColumn,
  readTextColumn,
} from "../store/row.ts";
import type { Attributes } from "./attribute-filter.ts";

/** Numbers of files by status. */
export interface FileCounts {
  readonly in_progress: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly total: number;
}

/** A vector store in OpenAI's format. */
export interface VectorStoreObject {
  readonly id: string;
  readonly object: "vector_store";
  readonly created_at: number;
  readonly name: string | null;
  readonly description: string | null;
  readonly usage_bytes: number;
  readonly file_counts: FileCounts;
  readonly status: "expired" | "in_progress" | "completed";
  readonly expires_after: { readonly anchor: "last_active_at"; readonly days: number } | null;
  readonly expires_at: number | null;
  readonly last_active_at: number;
  readonly metadata: unknown;
}

/** A file in a vector store, in OpenAI's format. */
export interface VectorStoreFileObject {
  readonly id: string;
  readonly object: "vector_store.file";
  readonly usage_bytes: number;
  readonly created_at: number;
  readonly vector_store_id: string;
  readonly status: string;
  readonly last_error: unknown;
  readonly chunking_strategy: object;
  readonly attributes: Attributes;
}

/** A batch of files in OpenAI's format. */
export interface FileBatchObject {
  readonly id: string;
  readonly object: "vector_store.file_batch";
  readonly created_at: number;
  readonly status: "in_progress" | "completed" | "cancelled";
  readonly vector_store_id: string;
  readonly file_counts: FileCounts;
}

/** Returns when an unused store expires, in seconds since the epoch; `null` if never. */
export function getExpiry(store: Row): number | null {
  const days = readNullableNumber(store, "expires_days");
  return days === null ? null : readNumberColumn(store, "last_active_at") + days * SECONDS_PER_DAY;
}

const SECONDS_PER_DAY = 86_400;

/** Converts a row to a store. `states` are its files by status: `{ status, files, bytes }`. */
export function toStoreObject(store: Row, states: readonly Row[], now: number): VectorStoreObject {
  const counts = countFiles(states);
  const expiresAt = getExpiry(store);
  const days = readNullableNumber(store, "expires_days");
  const isBusy = counts.in_progress > 0;
  const isOver = expiresAt !== null && now >= expiresAt;
  return {
    id: readTextColumn(store, "id"),
    object: "vector_store",
    created_at: readNumberColumn(store, "created_at"),
    name: readNullableText(store, "name"),
    description: readNullableText(store, "description"),
    usage_bytes: states.reduce((sum, state) => sum + readNumberColumn(state, "bytes"), 0),
    file_counts: counts,
    status: isOver ? "expired" : isBusy ? "in_progress" : "completed",
    expires_after: days === null ? null : { anchor: "last_active_at", days },
    expires_at: expiresAt,
    last_active_at: readNumberColumn(store, "last_active_at"),
    metadata: JSON.parse(readTextColumn(store, "metadata")),
  };
}

/** Converts a row to a file. */
export function toFileObject(file: Row, storeId: string): VectorStoreFileObject {
  const error = readNullableText(file, "error");
  return {
    id: readTextColumn(file, "file_id"),
    object: "vector_store.file",
    usage_bytes: readNumberColumn(file, "usage_bytes"),
    created_at: readNumberColumn(file, "created_at"),
    vector_store_id: storeId,
    status: readTextColumn(file, "status"),
    last_error: error === null ? null : JSON.parse(error),
    chunking_strategy: {
      type: "static",
      static: {
        max_chunk_size_tokens: readNumberColumn(file, "max_tokens"),
        chunk_overlap_tokens: readNumberColumn(file, "overlap_tokens"),
      },
    },
    attributes: parseAttributes(file),
  };
}

/** Converts a row to a batch. `states` are its files by status. */
export function toBatchObject(
  batch: Row,
  states: readonly Row[],
  storeId: string,
): FileBatchObject {
  const counts = countFiles(states);
  const ended = readNumberColumn(batch, "is_cancelled") === 1 ? "cancelled" : "completed";
  return {
    id: readTextColumn(batch, "id"),
    object: "vector_store.file_batch",
    created_at: readNumberColumn(batch, "created_at"),
    status: counts.in_progress > 0 ? "in_progress" : ended,
    vector_store_id: storeId,
    file_counts: counts,
  };
}

/** Parses a file's attributes. */
export function parseAttributes(file: Row): Attributes {
  const attributes: unknown = JSON.parse(readTextColumn(file, "attributes"));
  return isPlainObject(attributes) ? (attributes as Attributes) : {};
}

function countFiles(states: readonly Row[]): FileCounts {
  const countByStatus = (status: string) => {
    const state = states.find((one) => one["status"] === status);
    return state === undefined ? 0 : readNumberColumn(state, "files");
  };
  const counts = {
    in_progress: countByStatus("in_progress"),
    completed: countByStatus("completed"),
    failed: countByStatus("failed"),
    cancelled: countByStatus("cancelled"),
  };
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { ...counts, total };
}
