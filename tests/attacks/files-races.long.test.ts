import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";
import { packDirectory } from "../../src/files/archive/pack-directory.ts";
import { diffFolder } from "../../src/files/changes/diff-folder.ts";
import { HostFilesystem } from "../../src/files/filesystem/host-filesystem.ts";
import { syncFolder } from "../../src/files/sync/sync-folder.ts";
import { attempt } from "../support/attacks/attempt.ts";
import { runProgram } from "../support/attacks/run-program.ts";
import { swapEntries } from "../support/attacks/swap-entries.ts";
import { attackWhileSwapping, SECRET } from "../support/attacks/swapped-tree.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const surface = "host files";

/** The races remain where a folder cannot be used by its descriptor. */
const hasDescriptorPaths = existsSync("/proc/self/fd");

/** Creates `root/dir/f` and a folder with a secret that `root/link` leads to. */
function createSwapTree() {
  const folder = temporaryTree({
    "outside/f": SECRET,
    "outside/sub/f": SECRET,
    "root/dir/f": "in the root",
    "root/dir/sub/f": "in the root",
    "target/keep": "",
  });
  const root = join(folder, "root");
  symlinkSync("../outside", join(root, "link"));
  return { folder, root, dir: join(root, "dir"), link: join(root, "link") };
}

describe.runIf(hasDescriptorPaths)("files that a process changes during an operation", () => {
  attempt(
    {
      finding: "own",
      surface,
      tries:
        "symlinks to /proc/self/fd/0 to 199 and to /proc/thread-self/root, to borrow a folder the program holds open",
      shows: "A link is read step by step, so it leads back into the root or is refused.",
    },
    async () => {
      const folder = temporaryTree({ "outside/f": SECRET, "root/f": "x" });
      const root = join(folder, "root");
      const links = Array.from({ length: 200 }, (_, n) => `/proc/self/fd/${n}`);
      links.push("/proc/thread-self/root", "/proc/self/cwd", "/dev/fd/3");
      for (const [n, target] of links.entries()) symlinkSync(target, join(root, `l${n}`));
      const files = new HostFilesystem(root);
      const through: string[] = [];
      for (const n of links.keys()) {
        const names = await files.listDir(`l${n}`).catch((): string[] => []);
        // A descriptor of the root itself leads back into the root.
        if (names.length > 0 && !names.includes("l0")) through.push(`l${n} lists ${names}`);
        const text = await files.readText(`l${n}/../outside/f`).catch(() => "");
        if (text.includes(SECRET)) through.push(`l${n} reads the secret`);
        await files.writeText(`l${n}/planted`, "x").catch(() => {});
      }
      for (const place of [folder, join(folder, "outside"), process.cwd(), "/"])
        if (existsSync(join(place, "planted"))) through.push(`planted in ${place}`);
      return { tried: links.length * 3, through };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries:
        "reads, overwrites and undoes a file while a process swaps the file itself for a symlink",
      shows:
        "The last step is opened without following links too, and undo copies are made from the open file.",
    },
    async () => {
      const folder = temporaryTree({ outside: SECRET, "root/f": "in the root" });
      const [root, file] = [join(folder, "root"), join(folder, "root/f")];
      symlinkSync("../outside", join(root, "link"));
      const through: string[] = [];
      await using files = new HostFilesystem(root);
      {
        await using _swapping = await swapEntries(file, join(root, "link"));
        for (let round = 0; round < 150; round++) {
          const snapshot = await files.snapshot();
          const text = await files.readText("f").catch(() => "");
          await files.writeText("f", "overwritten").catch(() => {});
          await files.restore(snapshot).catch(() => {});
          await files.release(snapshot);
          if (text.includes(SECRET)) through.push(`round ${round} read the secret`);
        }
      }
      for (const name of readdirSync(root)) {
        const at = join(root, name);
        const isCopy = lstatSync(at).isFile() && readFileSync(at, "utf8").includes(SECRET);
        if (isCopy) through.push(`${name} has the secret`);
      }
      if (readFileSync(join(folder, "outside"), "utf8") !== SECRET) through.push("changed outside");
      return { tried: 450, through };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries:
        "replaces the temporary file of a write with a symlink to the outside before it is renamed",
      shows: "The temporary file is created exclusively and changed only through its open handle.",
    },
    async () => {
      const folder = temporaryTree({ outside: SECRET, "root/f": "x" });
      chmodSync(join(folder, "outside"), 0o600);
      const program =
        'const fs=require("node:fs");const d=process.argv[1];process.stdout.write("on");for(;;){for(const n of fs.readdirSync(d))if(n.startsWith(".wink-"))try{fs.unlinkSync(d+"/"+n);fs.symlinkSync("../outside",d+"/"+n)}catch{}}';
      await runProgram(program, join(folder, "root"));
      const files = new HostFilesystem(join(folder, "root"));
      for (let round = 0; round < 150; round++) {
        await files.write("f", new Uint8Array(200_000)).catch(() => {});
        if (lstatSync(join(folder, "root/f"), { throwIfNoEntry: false })?.isSymbolicLink())
          rmSync(join(folder, "root/f"));
      }
      const stats = lstatSync(join(folder, "outside"));
      const isSame =
        readFileSync(join(folder, "outside"), "utf8") === SECRET && (stats.mode & 0o777) === 0o600;
      return { tried: 150, through: isSame ? [] : ["the file outside has changed"] };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "deletes and restores folders while a process swaps their parent for a symlink",
      shows: "The mode of a restored folder is set through its open descriptor.",
    },
    () =>
      attackWhileSwapping(async ({ filesystem, root }, round) => {
        const snapshot = await filesystem.snapshot();
        await filesystem.mkdir(`dir/e${round}`).catch(() => {});
        await filesystem.delete(`dir/e${round}`).catch(() => {});
        await filesystem.delete("dir/sub/f").catch(() => {});
        await filesystem.delete("dir/sub").catch(() => {});
        await filesystem.restore(snapshot).catch(() => {});
        await filesystem.release(snapshot).catch(() => {});
        return readdirSync(root).length > 10 ? SECRET : "";
      }),
  );

  attempt(
    {
      finding: "own",
      surface,
      tries:
        "syncs a workspace to the host while a command that is still running swaps a folder for a symlink to a secret",
      shows: "Each source file is opened step by step and copied from its descriptor.",
    },
    async () => {
      const { folder, root, dir, link } = createSwapTree();
      const target = join(folder, "target");
      const through: string[] = [];
      await using _swapping = await swapEntries(dir, link);
      for (let round = 0; round < 150; round++) {
        await syncFolder({ from: root, to: target, changed: ["dir/f", "dir/sub/f"], deleted: [] });
        for (const path of ["dir/f", "dir/sub/f"]) {
          const at = join(target, path);
          const text = existsSync(at) ? readFileSync(at, "utf8") : "";
          if (text.includes(SECRET)) through.push(`round ${round} copied the secret`);
        }
      }
      return { tried: 300, through };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "diffs a workspace while a folder is swapped for a symlink to a secret",
      shows:
        "Folders are held open while they are compared, so the patch has only files of the workspace.",
    },
    async () => {
      const { root, dir, link } = createSwapTree();
      const baseline = {
        files: new Map(),
        folders: new Map(),
        originals: null,
        positions: new Map(),
      };
      const through: string[] = [];
      await using _swapping = await swapEntries(dir, link);
      for (let round = 0; round < 300; round++) {
        const patches = JSON.stringify(diffFolder({ folder: root, baseline }));
        if (patches.includes(SECRET)) through.push(`round ${round} has the secret`);
      }
      return { tried: 300, through };
    },
  );

  attempt(
    {
      finding: "own",
      surface,
      tries: "packs a folder for upload while a folder in it is swapped for a symlink to a secret",
      shows: "The archive has only files of the packed folder, or packing fails.",
    },
    async () => {
      const { root, dir, link } = createSwapTree();
      const through: string[] = [];
      await using _swapping = await swapEntries(dir, link);
      for (let round = 0; round < 10; round++) {
        const tar = await new Response(packDirectory(root)).text().catch(() => "");
        if (tar.includes(SECRET)) through.push(`round ${round} packed the secret`);
      }
      return { tried: 10, through };
    },
  );
});
