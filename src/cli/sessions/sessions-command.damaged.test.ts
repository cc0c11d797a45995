import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runSessionsCommand } from "../../../tests/support/cli/run-sessions-command.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";

test("a session whose first record is damaged is shown, exported and deleted", async () => {
  const store = temporaryTree({ "bad.jsonl": "{\n" });
  const shown = await runSessionsCommand("show", "bad", "--store", store);
  expect(shown).toMatchObject({ code: 0, err: "" });
  expect(shown.out).toMatch(/^Session bad\n {2}state +damaged .*\nLine 1 of .*bad\.jsonl is not/s);
  const exported = await runSessionsCommand("export", "bad", "--store", store);
  expect(exported).toEqual({ code: 0, err: "", out: "{\n" });
  const removed = await runSessionsCommand("rm", "bad", "--store", store, "--yes");
  expect(removed).toEqual({ code: 0, err: "", out: "1 session deleted.\n" });
  expect(readdirSync(store)).toEqual([]);
});

test("a session that is a folder is not exported, and no file is left", async () => {
  const store = temporaryTree({ "odd.jsonl/file": "mine" });
  const out = join(temporaryTree(), "odd.jsonl");
  const args = ["export", "odd", "--store", store, "--out", out] as const;
  const { err, code } = await runSessionsCommand(...args);
  expect({ err, code }).toEqual({
    err: expect.stringMatching(/^error: Session "odd" could not be read \(.*odd\.jsonl\): /),
    code: 1,
  });
  expect(existsSync(out)).toBe(false);
});

test("a session that cannot be deleted is reported, and the others are deleted", async () => {
  const store = temporaryTree({ "odd.jsonl/file": "mine", "one.jsonl": '{"kind":"session"}\n' });
  const { out, err, code } = await runSessionsCommand(
    "rm",
    "odd",
    "one",
    "--store",
    store,
    "--yes",
  );
  expect({ out, err, code }).toEqual({
    out: "1 session deleted.\n",
    err: expect.stringMatching(
      /^error: Session "odd" could not be deleted \(.*odd\.jsonl\): .*\n$/,
    ),
    code: 1,
  });
  expect(existsSync(join(store, "odd.jsonl/file"))).toBe(true);
});
