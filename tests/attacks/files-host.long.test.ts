import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { diffFolder } from "../../src/files/changes/diff-folder.ts";
import { HostFilesystem } from "../../src/files/filesystem/host-filesystem.ts";
import { materialize } from "../../src/files/mounts/mounted-folder.ts";
import { planMounts } from "../../src/files/mounts/plan-mounts.ts";
import { runPatch } from "../../src/tools/patch/run-patch.ts";
import { attempt } from "../support/attacks/attempt.ts";
import { measureStall } from "../support/attacks/measure-stall.ts";
import { runProgram } from "../support/attacks/run-program.ts";
import { SECRET } from "../support/attacks/swapped-tree.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const surface = "host files";
const isRoot = process.geteuid?.() === 0;

/** Returns the error's message, or a list with the result, which is what got through. */
async function collect(work: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    return [`succeeded with ${JSON.stringify(await work())}`];
  } catch {
    return [];
  }
}

attempt(
  {
    finding: "own",
    surface,
    tries: "reads, searches, overwrites and lists a pipe, a socket and (as root) a device",
    shows: "Nothing is opened that is not a regular file, so no call waits and no device is read.",
  },
  async () => {
    const root = temporaryTree({ f: "owl\n" });
    execFileSync("mkfifo", [join(root, "pipe")]);
    const server = createServer().listen(join(root, "socket"));
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const names = ["pipe", "socket"];
    if (isRoot) {
      execFileSync("mknod", [join(root, "zero"), "c", "1", "5"]);
      names.push("zero");
    }
    const files = new HostFilesystem(root);
    const through: string[] = [];
    const { elapsedMs } = await measureStall(async () => {
      for (const name of names) {
        through.push(...(await collect(() => files.readBytes(name))));
        through.push(...(await collect(() => files.writeText(name, "x"))));
        through.push(...(await collect(() => files.delete(name))));
        if (await files.isFile(name)) through.push(`${name} is a file`);
      }
      const found = await files.grep(".*");
      if (found.length !== 1) through.push(`found ${JSON.stringify(found)}`);
    });
    if (elapsedMs > 5_000) through.push(`took ${elapsedMs} ms`);
    return { tried: names.length * 4 + 1, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "overwrites, undoes and deletes a hard link to a file outside the root",
    shows: "A new file takes the name, so the file outside keeps its bytes and its mode.",
  },
  async () => {
    const folder = temporaryTree({ outside: SECRET, "root/f": "" });
    rmSync(join(folder, "root/f"));
    linkSync(join(folder, "outside"), join(folder, "root/f"));
    chmodSync(join(folder, "outside"), 0o640);
    await using files = new HostFilesystem(join(folder, "root"));
    const snapshot = await files.snapshot();
    await files.writeText("f", "overwritten");
    await files.restore(snapshot);
    await files.writeText("f", "overwritten");
    await files.delete("f");
    const { mode } = lstatSync(join(folder, "outside"));
    const isSame =
      readFileSync(join(folder, "outside"), "utf8") === SECRET && (mode & 0o777) === 0o640;
    return { through: isSame ? [] : ["the file outside has changed"] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "overwrites a setuid and setgid file",
    shows: "The new file has neither bit, so text of a model never runs as another user.",
  },
  async () => {
    const root = temporaryTree({ f: "old" });
    chmodSync(join(root, "f"), 0o6755);
    await new HostFilesystem(root).writeText("f", "#!/bin/sh\n");
    const mode = lstatSync(join(root, "f")).mode & 0o7777;
    return { through: mode === 0o755 ? [] : [`mode ${mode.toString(8)}`] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "reads a file while a process appends to it as fast as it can",
    shows: "At most the size at the time of opening is read.",
  },
  async () => {
    const root = temporaryTree({ f: "x".repeat(1_000_000) });
    const program =
      'const {appendFileSync}=require("node:fs");const t="x".repeat(1e6);for(let n=0;n<300;n++){appendFileSync(process.argv[1],t);if(n===1)process.stdout.write("on")}setInterval(()=>{},1e3)';
    await runProgram(program, join(root, "f"));
    const files = new HostFilesystem(root);
    const through: string[] = [];
    for (let round = 0; round < 5; round++) {
      const { length } = await files.readBytes("f");
      const now = lstatSync(join(root, "f")).size;
      if (length > now) through.push(`read ${length} of ${now} bytes`);
    }
    return { tried: 5, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "reads a sparse file of 1.9 GiB as text",
    shows: "It is refused by its size before a byte is read.",
  },
  async () => {
    const root = temporaryTree({ f: "" });
    truncateSync(join(root, "f"), 2_040_000_000);
    const files = new HostFilesystem(root);
    const before = process.memoryUsage().rss;
    const through = [
      ...(await collect(() => files.read("f"))),
      ...(await collect(() => files.readText("f", "latin1"))),
    ];
    const grown = process.memoryUsage().rss - before;
    if (grown > 100 * 2 ** 20) through.push(`took ${grown} bytes of memory`);
    return { tried: 2, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "lists, searches and diffs a tree of 1,000 nested folders",
    shows: "Folders more than 64 levels deep are left alone, without running out of descriptors.",
  },
  async () => {
    const root = temporaryTree({ f: "owl\n" });
    const program =
      "import os,sys\nos.chdir(sys.argv[1])\nfor n in range(1000):\n  os.mkdir('d')\n  os.chdir('d')\nopen('f','w').write('owl')";
    execFileSync("python3", ["-c", program, root]);
    onTestFinished(() => void execFileSync("rm", ["-rf", root]));
    const files = new HostFilesystem(root);
    const matches = await files.grep("owl");
    const [paths, names] = [await files.glob("*"), await files.listDir(".")];
    const baseline = {
      files: new Map(),
      folders: new Map(),
      originals: null,
      positions: new Map(),
    };
    const diffs = diffFolder({ folder: root, baseline });
    const summary = JSON.stringify([matches.length, paths, names, diffs.length]);
    return { tried: 4, through: summary === '[1,["f"],["d","f"],2]' ? [] : [summary] };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "names with newlines, control characters, backslashes and bytes that are not UTF-8",
    shows: "Valid names work like any other, and a name that is not UTF-8 reaches no other file.",
  },
  async () => {
    const root = temporaryTree({
      "a\nb": "owl",
      "c\u001b[2Jd": "owl",
      "e\\..\\f": "owl",
      " ": "owl",
    });
    const strange = Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x66, 0xff, 0x66])]);
    writeFileSync(strange, "owl");
    const files = new HostFilesystem(root);
    const found = (await files.grep("owl")).map(({ path }) => path).sort();
    const through = await collect(() => files.readText("f\ufffdf"));
    const expected = JSON.stringify([" ", "a\nb", "c\u001b[2Jd", "e\\..\\f"]);
    if (JSON.stringify(found) !== expected)
      return { tried: 2, through: [...through, String(found)] };
    return { tried: 2, through };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "chains of 100 symlinks, cycles, and links through each other to the outside",
    shows: "After 40 links the path is refused.",
  },
  async () => {
    const folder = temporaryTree({ outside: SECRET, "root/f": "x" });
    const root = join(folder, "root");
    for (let n = 0; n < 100; n++) symlinkSync(`l${n + 1}`, join(root, `l${n}`));
    symlinkSync("f", join(root, "l100"));
    symlinkSync("b/x", join(root, "a"));
    symlinkSync("a/y", join(root, "b"));
    symlinkSync("hop/../../outside", join(root, "out"));
    symlinkSync(".", join(root, "hop"));
    const files = new HostFilesystem(root);
    const paths = ["l0", "a", "b", "a/../b", "out", "hop/hop/out"];
    const results = await Promise.all(paths.map((path) => collect(() => files.readText(path))));
    return { tried: paths.length, through: results.flat() };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "replaces a mounted folder with a symlink to a folder of the same shape between the check and the copy",
    shows: "Each file must be the very file that was checked, by its inode, size and time.",
  },
  async () => {
    const folder = temporaryTree({ "src/dir/f": "same size!", "outside/f": "a secret!!" });
    const mounts = [{ hostPath: join(folder, "src"), mountPath: "." }];
    const plan = planMounts(mounts, { allowedHostRoots: "any" });
    renameSync(join(folder, "src/dir"), join(folder, "src/moved"));
    symlinkSync("../outside", join(folder, "src/dir"));
    return { through: await collect(() => materialize(plan)) };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries:
      "patches that create, move and delete files through a symlinked folder, absolute paths and ..",
    shows: "The patch is refused as a whole, and no file is changed.",
  },
  async () => {
    const folder = temporaryTree({ "outside/f": SECRET, "root/f": "x\n" });
    symlinkSync("../outside", join(folder, "root/link"));
    const files = new HostFilesystem(join(folder, "root"));
    const bodies = [
      "*** Add File: link/new\n+x",
      "*** Delete File: link/f",
      "*** Update File: f\n*** Move to: link/g",
      "*** Update File: f\n*** Move to: ../outside/g",
      `*** Add File: ${join(folder, "outside/new")}\n+x`,
      "*** Add File: a/../../outside/new\n+x",
      "*** Add File: good\n+x\n*** Add File: link/new\n+x",
    ];
    const results = await Promise.all(
      bodies.map((body) =>
        collect(() => runPatch(files, `*** Begin Patch\n${body}\n*** End Patch\n`)),
      ),
    );
    const left = [readdirSync(join(folder, "outside")), readdirSync(join(folder, "root"))];
    const isSame = JSON.stringify(left) === '[["f"],["f","link"]]';
    return {
      tried: bodies.length,
      through: [...results.flat(), ...(isSame ? [] : [String(left)])],
    };
  },
);

attempt(
  {
    finding: "own",
    surface,
    tries: "writes a path of 4,000 bytes that no other program could open or delete",
    shows: "Paths that the system could not open by name are refused.",
  },
  async () => {
    const root = mkdtempSync(join(tmpdir(), "wink-test-"));
    onTestFinished(() => rmSync(root, { recursive: true }));
    mkdirSync(join(root, "d"));
    const deep = Array.from({ length: 30 }, () => "n".repeat(200)).join("/");
    const files = new HostFilesystem(root);
    const through = [
      ...(await collect(() => files.writeText(`d/${deep}`, "x"))),
      ...(await collect(() => files.mkdir(`d/${deep}`))),
    ];
    return { tried: 2, through: [...through, ...readdirSync(join(root, "d"))] };
  },
);
