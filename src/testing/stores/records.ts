import { catchRejection, expectSame } from "../contract/expect.ts";
import { expectRecords, expectRefusal, readAll, type StoreCase } from "./store-case.ts";

/** Cases about records: their order, their text, and who may append them. */
export const recordCases: readonly StoreCase[] = [
  {
    name: "reads no records of a session that does not exist",
    async check({ store }) {
      expectSame(await readAll(store, "none"), [], "the records");
      expectSame(await store.list(), [], "the sessions");
    },
  },
  {
    name: "stores records in the order of the calls, even if earlier calls are pending",
    async check({ store }) {
      const records = Array.from({ length: 200 }, (_, n) => ({ n, text: "x".repeat(n * 37) }));
      await Promise.all(records.map((record) => store.append("s", record)));
      await expectRecords(store, "s", records);
    },
  },
  {
    name: "stores records byte for byte: key order, NUL, lone surrogates and line breaks survive",
    async check({ store }) {
      const texts = [
        '{"b":1,"a":2,"":{"z":[],"y":{}}}',
        JSON.stringify({ nul: "a\u0000b", lone: "\ud800", other: "\udfff!", pair: "\u{1f600}" }),
        JSON.stringify({ lines: "a\nb\r\nc\u2028d\u2029e\u0085", quotes: "\"'\\", bom: "\ufeff" }),
        '{"__proto__":{"x":1},"constructor":null,"toString":"s"}',
        '{"numbers":[0,1e300,5e-324,-1.5,9007199254740991],"flags":[true,false,null]}',
        `{"deep":${"[".repeat(100)}${"]".repeat(100)}}`,
      ];
      for (const text of texts) await store.append("s", JSON.parse(text));
      await expectRecords(
        store,
        "s",
        texts.map((text) => JSON.parse(text)),
      );
    },
  },
  {
    name: "stores a record as it was when append was called",
    async check({ store }) {
      const record = { n: 0, list: [1] };
      const appended = store.append("s", record);
      record.list.push(2);
      await appended;
      await expectRecords(store, "s", [{ n: 0, list: [1] }]);
    },
  },
  {
    name: "stores a record of 8 MB",
    async check({ store }) {
      const record = { n: 0, text: "0123456é".repeat(1_000_000) };
      await store.append("s", record);
      await expectRecords(store, "s", [record]);
    },
  },
  {
    name: "refuses a record that is not JSON, and stores nothing",
    async check({ store }) {
      const cycle: Record<string, unknown> = {};
      cycle["self"] = cycle;
      await catchRejection(store.append("s", cycle));
      await expectRecords(store, "s", []);
    },
  },
  {
    name: "keeps sessions with similar ids apart",
    async check({ store }) {
      const ids = ["a", "A", "a.b", "a:b", "a-b", "a_b", "0", "con", "x".repeat(128)];
      await Promise.all(ids.map((id) => store.append(id, { id })));
      for (const id of ids) await expectRecords(store, id, [{ id }]);
      expectSame([...(await store.list())].sort(), [...ids].sort(), "the sessions");
    },
  },
  {
    name: "reads the records from a number on",
    async check({ store }) {
      const records = Array.from({ length: 20 }, (_, n) => ({ n }));
      for (const record of records) await store.append("s", record);
      for (const from of [0, 1, 19, 20, 25]) {
        const read = await readAll(store, "s", from);
        const isNeeded = (record: object) => "n" in record && Number(record.n) >= from;
        expectSame(read.filter(isNeeded), records.slice(from), `the records from ${from} on`);
      }
    },
  },
  {
    name: "refuses a writer that does not know the last record, and its later records",
    async check({ store }) {
      const [first, second] = [{}, {}];
      await store.append("s", { n: 0 }, { writer: first, position: 0 });
      await store.append("s", { n: 1 }, { writer: first, position: 1 });
      await expectRefusal(store.append("s", { n: 1 }, { writer: second, position: 1 }));
      await expectRefusal(store.append("s", { n: 2 }, { writer: second, position: 3 }));
      const third = {};
      await store.append("s", { n: 2 }, { writer: third, position: 2 });
      await expectRefusal(store.append("s", { n: 2, old: true }, { writer: first, position: 2 }));
      await store.append("s", { n: 3 }, { writer: third, position: 3 });
      await expectRecords(store, "s", [{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }]);
    },
  },
  {
    name: "accepts one of two writers that append the same record at once",
    async check({ store }) {
      await store.append("s", { n: 0 });
      const writers = Array.from({ length: 10 }, (_, index) =>
        store.append("s", { n: 1, index }, { writer: {}, position: 1 }),
      );
      const settled = await Promise.allSettled(writers);
      const accepted = settled.filter(({ status }) => status === "fulfilled");
      expectSame(accepted.length, 1, "the number of accepted records");
      expectSame((await readAll(store, "s")).length, 2, "the number of records");
    },
  },
  {
    name: "deletes a session's records, and its id can be used again",
    async check({ store }) {
      await store.append("s", { n: 0 });
      await store.append("other", { n: 0 });
      await store.delete("s");
      await store.delete("none");
      expectSame(await readAll(store, "s"), [], "the records of a deleted session");
      expectSame(await store.list(), ["other"], "the sessions");
      await store.append("s", { again: true }, { writer: {}, position: 0 });
      await expectRecords(store, "s", [{ again: true }]);
    },
  },
  {
    name: "stores 1,000 sessions",
    async check({ store }) {
      const ids = Array.from({ length: 1_000 }, (_, index) => `s${index}`);
      for (let start = 0; start < ids.length; start += 50) {
        const batch = ids.slice(start, start + 50);
        await Promise.all(batch.map((id) => store.append(id, { id })));
      }
      expectSame([...(await store.list())].sort(), [...ids].sort(), "the sessions");
      for (const id of ["s0", "s999"]) await expectRecords(store, id, [{ id }]);
    },
  },
  {
    name: "shows records to another store with the same data",
    async check({ store, openAnother }) {
      await store.append("s", { n: 0 });
      const other = await openAnother();
      await expectRecords(other, "s", [{ n: 0 }]);
      await other.append("s", { n: 1 }, { writer: {}, position: 1 });
      await expectRefusal(store.append("s", { n: 1 }, { writer: {}, position: 1 }));
      await expectRecords(store, "s", [{ n: 0 }, { n: 1 }]);
    },
  },
];
