import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { createTemporaryDataDir } from "../../../tests/support/local-storage.ts";
import { runAsPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { openDatabase } from "./database.ts";
import { readNullableNumber, readNullableText, readNumberColumn, readTextColumn } from "./row.ts";

const STEPS = [
  "CREATE TABLE notes (text TEXT) STRICT",
  "ALTER TABLE notes ADD COLUMN mark INTEGER",
];

describe("Database", () => {
  it("runs each migration step once, including steps added later", () => {
    using folder = createTemporaryDataDir();
    {
      using database = openDatabase(join(folder.path, "new", "folder"));
      database.migrateTables("notes", STEPS.slice(0, 1));
      database.migrateTables("notes", STEPS.slice(0, 1));
      database.prepare("INSERT INTO notes (text) VALUES (?)").run("old");
    }
    using database = openDatabase(join(folder.path, "new", "folder"));
    database.migrateTables("notes", STEPS);
    database.migrateTables("others", ["CREATE TABLE others (id TEXT) STRICT"]);
    expect(database.prepare("SELECT text, mark FROM notes").all()).toEqual([
      { text: "old", mark: null },
    ]);
  });

  it("commits all of a transaction or nothing", () => {
    using folder = createTemporaryDataDir();
    using database = openDatabase(folder.path);
    database.migrateTables("notes", STEPS);
    const insert = database.prepare("INSERT INTO notes (text) VALUES (?)");
    expect(() =>
      database.transaction(() => {
        insert.run("lost");
        database.transaction(() => insert.run("lost too"));
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(database.transaction(() => insert.run("kept").changes)).toBe(1);
    expect(database.prepare("SELECT text FROM notes").all()).toEqual([{ text: "kept" }]);
  });

  it("can be closed twice", () => {
    using folder = createTemporaryDataDir();
    const database = openDatabase(folder.path);
    database[Symbol.dispose]();
    database[Symbol.dispose]();
    expect(() => database.exec("SELECT 1")).toThrow("database is not open");
  });

  it("rejects a folder that another provider has open", () => {
    using folder = createTemporaryDataDir();
    using _first = openDatabase(folder.path);
    expect(() => openDatabase(folder.path)).toThrow(
      /^dataDir must be used by one local provider at a time, got ".*". Stop the other provider, or use another folder\.$/,
    );
  });

  it("rejects a folder that cannot be created", () => {
    expect(() => openDatabase("/dev/null/folder")).toThrow("must be a folder that can be created");
  });

  it("rejects a folder whose path has a file", () => {
    using folder = createTemporaryDataDir();
    writeFileSync(join(folder.path, "file"), "");
    for (const path of ["file", "file/below"])
      expect(() => openDatabase(join(folder.path, path))).toThrow(
        /^dataDir must be a folder that can be created and written to \(.*\), got ".*"\. Use another folder\.$/,
      );
  });

  it.skipIf(process.platform !== "linux")(
    "rejects folders of the system in which nothing can be created",
    () => {
      for (const path of ["/proc/wink-none", "/proc/wink-none/a", "/proc", "/sys", "/sys/none"])
        expect(() => openDatabase(path)).toThrow(
          /^dataDir must be a folder that can be created and written to \(.*\), got "\/.*"\. Use another folder\.$/,
        );
    },
  );

  it("rejects a folder that the user may not write to", async () => {
    const folder = temporaryTree();
    chmodSync(folder, 0o555);
    for (const path of [folder, join(folder, "new")]) {
      const opening = runAsPlainUser(async () => openDatabase(path));
      await expect(opening).rejects.toThrow(
        `dataDir must be a folder that can be created and written to`,
      );
    }
  });

  it("rejects a file written by a newer version", () => {
    using folder = createTemporaryDataDir();
    const later = new DatabaseSync(join(folder.path, "local.sqlite"));
    later.exec("PRAGMA user_version = 99");
    later.close();
    expect(() => openDatabase(folder.path)).toThrow(
      /^dataDir must have been written by this version of weakincentives or an older one, got ".*". Update weakincentives, or use another folder\.$/,
    );
  });

  it("rethrows other errors unchanged", () => {
    using folder = createTemporaryDataDir();
    writeFileSync(
      join(folder.path, "local.sqlite"),
      "this is no database, but a text of some length",
    );
    expect(() => openDatabase(folder.path)).toThrow("file is not a database");
  });
});

describe("a database row", () => {
  it("reads text, number and null columns, and rejects other types", () => {
    const row = { name: "a", size: 1, none: null };
    expect([readTextColumn(row, "name"), readNumberColumn(row, "size")]).toEqual(["a", 1]);
    expect([readNullableText(row, "none"), readNullableNumber(row, "none")]).toEqual([null, null]);
    expect([readNullableText(row, "name"), readNullableNumber(row, "size")]).toEqual(["a", 1]);
    expect(() => readTextColumn(row, "size")).toThrow(
      "The database column size contains a number.",
    );
    expect(() => readNumberColumn(row, "name")).toThrow(
      "The database column name contains a string.",
    );
  });
});
