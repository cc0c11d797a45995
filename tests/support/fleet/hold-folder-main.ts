/**
 * Opens the database in a folder, prints its pid and the number of rows in its table, and adds rows until it is killed.
 * Prints the number of each row after it is stored. With `--close` it closes the database instead, and must then exit by
 * itself; with `--exit` it exits without closing it.
 */
import { openFolderDatabase } from "../../../src/fleet/database/folder-database.ts";

const [folder = "", mode] = process.argv.slice(2);
const database = await openFolderDatabase(folder);
await database.runScript("create table if not exists entry (n int primary key)");
const { rows } = await database.query("select n from entry");
process.stdout.write(`open ${rows.length}\n`);
if (mode === "--exit") process.exit(0);
if (mode === "--close") await database.close();
else {
  for (let n = rows.length + 1; ; n++) {
    await database.query("insert into entry values ($1)", [n]);
    process.stdout.write(`${n}\n`);
  }
}
