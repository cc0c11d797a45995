import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { temporaryDataDir } from "../../../tests/support/local-storage.ts";
import { openDatabase } from "./database.ts";
import { numberIn, numberOrNullIn, textIn, textOrNullIn } from "./row.ts";

const STEPS = [
  "CREATE TABLE notes (text TEXT) STRICT",
  "ALTER TABLE notes ADD COLUMN mark INTEGER",
];

describe("the database", () => {
  it("runs each step of a store's tables once, also those that come later", () => {
    using folder = temporaryDataDir();
    {
      using database = openDatabase(join(folder.path, "new", "folder"));
      database.tables("notes", STEPS.slice(0, 1));
      database.tables("notes", STEPS.slice(0, 1));
      database.prepare("INSERT INTO notes (text) VALUES (?)").run("old");
    }
    using database = openDatabase(join(folder.path, "new", "folder"));
    database.tables("notes", STEPS);
    database.tables("others", ["CREATE TABLE others (id TEXT) STRICT"]);
    expect(database.prepare("SELECT text, mark FROM notes").all()).toEqual([
      { text: "old", mark: null },
    ]);
  });

  it("keeps all of a transaction or nothing", () => {
    using folder = temporaryDataDir();
    using database = openDatabase(folder.path);
    database.tables("notes", STEPS);
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

  it("closes, twice if asked", () => {
    using folder = temporaryDataDir();
    const database = openDatabase(folder.path);
    database[Symbol.dispose]();
    database[Symbol.dispose]();
    expect(() => database.exec("SELECT 1")).toThrow("database is not open");
  });

  it("refuses a folder that another one has open", () => {
    using folder = temporaryDataDir();
    using _first = openDatabase(folder.path);
    expect(() => openDatabase(folder.path)).toThrow(
      /^dataDir must be used by one local provider at a time, got ".*". End the one that has it, or give this one a folder of its own$/,
    );
  });

  it("refuses a folder that cannot be made", () => {
    expect(() => openDatabase("/dev/null/folder")).toThrow("must be a folder that can be made");
  });

  it("refuses a file of a later version", () => {
    using folder = temporaryDataDir();
    const later = new DatabaseSync(join(folder.path, "local.sqlite"));
    later.exec("PRAGMA user_version = 99");
    later.close();
    expect(() => openDatabase(folder.path)).toThrow(
      /^dataDir must have been written by this version of weakincentives or an older one, got ".*". Update weakincentives, or give it another folder$/,
    );
  });

  it("does not hide what else is wrong", () => {
    using folder = temporaryDataDir();
    writeFileSync(
      join(folder.path, "local.sqlite"),
      "this is no database, but a text of some length",
    );
    expect(() => openDatabase(folder.path)).toThrow("file is not a database");
  });
});

describe("a row", () => {
  it("gives what its columns hold, and nothing else", () => {
    const row = { name: "a", size: 1, none: null };
    expect([textIn(row, "name"), numberIn(row, "size")]).toEqual(["a", 1]);
    expect([textOrNullIn(row, "none"), numberOrNullIn(row, "none")]).toEqual([null, null]);
    expect([textOrNullIn(row, "name"), numberOrNullIn(row, "size")]).toEqual(["a", 1]);
    expect(() => textIn(row, "size")).toThrow("The column size holds a number.");
    expect(() => numberIn(row, "name")).toThrow("The column name holds a string.");
  });
});
