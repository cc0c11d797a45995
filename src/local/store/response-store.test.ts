import { describe, expect, it } from "vitest";
import { temporaryDataDir } from "../../../tests/local-storage.ts";
import { openDatabase } from "./database.ts";
import { ResponseStore, type StoredResponse } from "./response-store.ts";

const response: StoredResponse = {
  id: "resp_1",
  createdAt: 1_800_000_000,
  response: { id: "resp_1", output: [{ type: "message", text: "日本 \u0000 🎉" }] },
  items: [{ type: "message", role: "user" }, { type: "message" }],
  stored: true,
};

describe("the response store", () => {
  it("keeps a response over a restart, in place of an earlier one", () => {
    using folder = temporaryDataDir();
    {
      using database = openDatabase(folder.path);
      const store = new ResponseStore(database);
      store.put({ ...response, response: { status: "in_progress" }, stored: false });
      expect(store.get("resp_1")?.stored).toBe(false);
      store.put(response);
    }
    using database = openDatabase(folder.path);
    expect(new ResponseStore(database).get("resp_1")).toEqual(response);
  });

  it("finds an item of a stored conversation", () => {
    using folder = temporaryDataDir();
    using database = openDatabase(folder.path);
    const store = new ResponseStore(database);
    const item = { id: "msg_1", type: "message" };
    store.put({ ...response, items: [item] });
    store.put({ ...response, id: "resp_2", items: [{ id: "msg_2" }], stored: false });
    expect(store.item("msg_1")).toEqual(item);
    expect([store.item("msg_2"), store.item("msg_"), store.item("")]).toEqual([null, null, null]);
  });

  it("deletes one, and says whether there was one", () => {
    using folder = temporaryDataDir();
    using database = openDatabase(folder.path);
    const store = new ResponseStore(database);
    store.put(response);
    expect([store.delete("resp_1"), store.delete("resp_1")]).toEqual([true, false]);
    expect(store.get("resp_1")).toBeUndefined();
  });
});
