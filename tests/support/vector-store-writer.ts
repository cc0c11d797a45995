/**
 * A process that fills a vector store until it is killed. Prints the ids of the store and its files once a few
 * of them are indexed: `node tests/support/vector-store-writer.ts DIRECTORY`.
 */
import { writeSync } from "node:fs";
import { defaultStore, openStores } from "./vector-stores.ts";

const FILES = 300;
const FIRST = 20;

const { stores, upload } = openStores(process.argv[2]);
const fileIds = Array.from({ length: FILES }, (_, index) =>
  upload(`${index}.txt`, `Of bird b${index}. ${"It was seen near the lake. ".repeat(250)}`),
);
const { id } = stores.create({ ...defaultStore, name: "killed", fileIds });
while (stores.get(id).file_counts.completed < FIRST) await new Promise(setImmediate);
writeSync(1, `${JSON.stringify({ id, fileIds })}\n`);
