import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createBlobTables,
  type TestDatabase,
  testDatabases,
} from "../../../tests/support/fleet/blob-database.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { PostgresSessionStore } from "../../stores/postgres/postgres-session-store.ts";
import type { SqlClient } from "../../stores/postgres/sql-client.ts";
import { deleteOrphanBlobs, PostgresBlobStore, releaseBlobs } from "./postgres-blob-store.ts";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Returns random bytes and their digest. */
function createContent(size: number) {
  const bytes = new Uint8Array(randomBytes(size));
  return { bytes, digest: sha256(bytes) };
}

describe.each(testDatabases)("a PostgresBlobStore on %s", (_name, open, isThere) => {
  if (!isThere) {
    test.skip("needs WINK_POSTGRES, see scripts/with-postgres.ts", () => {});
    return;
  }
  let database: TestDatabase;
  let sql: SqlClient;
  const schema = `Blobs_${randomBytes(6).toString("hex")}`;
  const query = (text: string, params?: unknown[]) =>
    sql.query(text.replaceAll("wink.", `"${schema}".`), params);
  const age = () => query("update wink.blob set used_at = now() - interval '8 days'");
  /** Creates a session, and a store for its files. */
  const createStore = async (client = sql) => {
    const sessionId = randomBytes(8).toString("hex");
    await query("insert into wink.session (id) values ($1)", [sessionId]);
    return { sessionId, blobs: new PostgresBlobStore({ sql: client, schema, sessionId }) };
  };
  beforeAll(async () => {
    database = open();
    sql = database.sql;
    await createBlobTables(sql, schema);
  });
  afterAll(async () => {
    await sql.query(`drop schema "${schema}" cascade`);
    await database.close();
  });

  test.each([0, 1, 1024 ** 2, 1024 ** 2 + 1, 9.5 * 1024 ** 2])(
    "stores a content of %i bytes once, and returns it",
    async (size) => {
      const { blobs } = await createStore();
      const { bytes, digest } = createContent(size);
      expect(await blobs.has(digest)).toBe(false);
      expect(await blobs.get(digest)).toBeNull();
      await Promise.all([blobs.put(digest, bytes), blobs.put(digest, bytes)]);
      await blobs.put(digest, bytes);
      expect(await blobs.has(digest)).toBe(true);
      expect(sha256((await blobs.get(digest)) ?? new Uint8Array(1))).toBe(digest);
    },
  );

  test("does not count a content that was not completely written, until it is", async () => {
    const { bytes, digest } = createContent(3 * 1024 ** 2);
    let left = 2;
    const failing: SqlClient = {
      query: async (text, params) => {
        left -= 1;
        if (left < 0) throw new Error("connection terminated");
        return await sql.query(text, params);
      },
    };
    const { blobs: broken } = await createStore(failing);
    await expect(broken.put(digest, bytes)).rejects.toThrow(SessionStoreError);
    const { blobs } = await createStore();
    expect(await blobs.has(digest)).toBe(false);
    expect(await blobs.get(digest)).toBeNull();
    await blobs.put(digest, bytes);
    expect(await blobs.has(digest)).toBe(true);
    expect(sha256((await blobs.get(digest)) ?? new Uint8Array())).toBe(digest);
  });

  test("returns null for a content whose chunks are missing", async () => {
    const { blobs } = await createStore();
    const { bytes, digest } = createContent(9 * 1024 ** 2);
    await blobs.put(digest, bytes);
    await query("delete from wink.blob_chunk where sha256 = decode($1, 'hex') and n = 8", [digest]);
    expect(await blobs.get(digest)).toBeNull();
  });

  test("deletes old contents once no session names them", async () => {
    const [one, other] = [await createStore(), await createStore()];
    const contents = [createContent(10), createContent(20), createContent(2 * 1024 ** 2)];
    const [shared, own, large] = contents.map(({ digest }) => digest);
    for (const { digest, bytes } of contents) await one.blobs.put(digest, bytes);
    await age();
    expect(await other.blobs.has(shared ?? "")).toBe(true);
    await age();
    await deleteOrphanBlobs({ sql, schema });
    const list = async () =>
      await Promise.all([shared, own, large].map((digest) => one.blobs.get(digest ?? "")));
    expect((await list()).map((bytes) => bytes?.length)).toEqual([10, 20, 2 * 1024 ** 2]);
    await releaseBlobs({ sql, schema }, one.sessionId);
    expect(await deleteOrphanBlobs({ sql, schema })).toBe(2);
    expect((await list()).map((bytes) => bytes?.length)).toEqual([10, undefined, undefined]);
    await new PostgresSessionStore({ sql, schema }).delete(other.sessionId);
    await query("delete from wink.session where id = $1", [other.sessionId]);
    expect(await deleteOrphanBlobs({ sql, schema }, 9)).toBe(0);
    expect(await deleteOrphanBlobs({ sql, schema })).toBe(1);
    const chunks = "select 1 from wink.blob_chunk where sha256 = any($1::bytea[])";
    const digests = contents.map(({ digest }) => Buffer.from(digest, "hex"));
    expect((await query(chunks, [digests])).rows).toEqual([]);
  });

  test("does not delete an orphan that was used within 7 days, and deletes many at once", async () => {
    const { blobs, sessionId } = await createStore();
    for (let count = 0; count < 101; count += 1) {
      const { digest, bytes } = createContent(8);
      await blobs.put(digest, bytes);
    }
    await releaseBlobs({ sql, schema }, sessionId);
    expect(await deleteOrphanBlobs({ sql, schema })).toBe(0);
    await age();
    expect(await deleteOrphanBlobs({ sql, schema })).toBe(101);
  });

  test("stores a content again that is deleted while a session begins to name it", async () => {
    const { blobs, sessionId } = await createStore();
    const { bytes, digest } = createContent(100);
    for (let round = 0; round < 20; round += 1) {
      await blobs.put(digest, bytes);
      await releaseBlobs({ sql, schema }, sessionId);
      await age();
      const store = async () => {
        if (!(await blobs.has(digest))) await blobs.put(digest, bytes);
      };
      await Promise.all([store(), deleteOrphanBlobs({ sql, schema }), store()]);
      await age();
      await deleteOrphanBlobs({ sql, schema });
      expect(sha256((await blobs.get(digest)) ?? new Uint8Array())).toBe(digest);
    }
  });

  test("explains a failure of the database", async () => {
    const missing = new PostgresBlobStore({ sql, schema: "missing", sessionId: "s" });
    await expect(missing.has("00")).rejects.toThrow(/PostgreSQL failed in the schema "missing"/);
  });
});
