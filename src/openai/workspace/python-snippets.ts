/** The file at the root of a change archive that lists the paths to remove. */
export const REMOVED_FILE = ".wink-removed.json";

/** The file at the root of a downloaded archive that reports deletions, skipped files and folders. */
export const REPORT_FILE = ".wink-report.json";

/** The prefix of the library's own uploads, which are not part of the workspace. */
export const OWN_PREFIX = "wink-7c1e-";

/** Matches names of uploads at the root, which are ignored unless they are known files. */
const UPLOADED_NAME_PATTERN = `(?:[0-9a-f]{32}|file-\\w{20,})-|${OWN_PREFIX}`;

/** Matches control characters, backslashes, and surrogates that replace invalid UTF-8 bytes. */
const INVALID_NAME_PATTERN = "[\\x00-\\x1f\\x7f-\\x9f\\\\\\udc80-\\udcff]";

/** The name of an archived file whose real name is in the report, because a tar reader may refuse it. */
const RENAMED_PREFIX = `${OWN_PREFIX}renamed-`;

/** Why a new entry with an odd name stays in the container. */
export const ODD_NAME_REASON = "has a name that cannot be used as a path";

const SYMLINK_REASON = "is a symlink, and only files and folders are synced";

/** Marks the output of a snippet, so that other code does not print the same by chance. */
const OUTPUT_MARK = "wink:";

/** The attribute of `sys` that stores all digests between snippets. Other code may change it. */
const MEMORY_NAME = "wink_7c1e";

/** Defines a function that computes one digest for many files, like `treeDigest`. */
const TREE_DIGEST_FUNCTION = `def tree(files):
        whole = hashlib.sha256()
        for path in sorted(files, key=os.fsencode):
            whole.update(f"{files[path]}  {path}\\n".encode())
        return whole.hexdigest()`;

/** How unpacking updates the stored digests: not at all, by replacing them, or by adding to them. */
const MEMORY_UPDATES = {
  nothing: "",
  all: `setattr(sys, "${MEMORY_NAME}", written)`,
  also: `before = getattr(sys, "${MEMORY_NAME}", None)
    if type(before) is dict:
        for path in removed:
            before.pop(path, None)
        before.update(written)`,
} as const;

/**
 * Creates code that unpacks uploaded archives below /mnt/data, in order, removes the paths that each lists as
 * removed, and prints the digest of the files on disk. `memory` sets which digests the interpreter
 * stores for `changesSnippet`.
 */
export function unpackSnippet(
  archives: string | readonly string[],
  memory: keyof typeof MEMORY_UPDATES = "nothing",
): string {
  return `def _wink():
    import glob, hashlib, json, os, sys, tarfile
    ${TREE_DIGEST_FUNCTION}
    os.chdir("/mnt/data")
    modes, written = {}, {}
    for name in ${JSON.stringify([archives].flat())}:
        archive, removed = glob.glob("*" + name)[0], []
        with tarfile.open(archive) as tar:
            members = [m for m in tar.getmembers() if m.name != "${REMOVED_FILE}"]
            if "${REMOVED_FILE}" in tar.getnames():
                removed = json.load(tar.extractfile("${REMOVED_FILE}"))
            for path in removed:
                modes.pop(path, None)
                if os.path.isdir(path) and not os.path.islink(path):
                    if not os.listdir(path):
                        os.rmdir(path)
                elif os.path.lexists(path):
                    os.remove(path)
            files = [m for m in members if m.isfile()]
            for m in files:
                modes[m.name] = m.mode & 0o777
                if os.path.islink(m.name) or os.path.isfile(m.name):
                    os.remove(m.name)
            tar.extractall(".", members)
        os.remove(archive)
    for path in modes:
        try:
            os.chmod(path, modes[path])
        except OSError:
            pass
    for path in modes:
        one = hashlib.sha256()
        with open(path, "rb") as file:
            while part := file.read(1 << 20):
                one.update(part)
        written[path] = one.hexdigest()
    ${MEMORY_UPDATES[memory]}
    return tree(written)
print("${OUTPUT_MARK}" + _wink())`;
}

/** Limits that prevent a download from filling the host's disk. Files beyond them are skipped. */
export interface ChangeLimits {
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
}

/** The source of the known digests: an uploaded list by name, or the interpreter's stored digests. */
export type KnownFiles = string | { readonly digest: string };

/**
 * Creates code that compares every file below /mnt/data with its known digest, packs new and changed
 * files into an archive there, with a report of deletions, folders and modes, and prints the digest of all
 * files. Stored digests are used only if they match the given digest. Otherwise the code does nothing. The
 * report contains the modes that differ from those of new files, `null` if unknown, and no modes at all if
 * the container's file system does not keep them.
 */
export function changesSnippet(known: KnownFiles, archive: string, limits: ChangeLimits): string {
  return `def _wink():
    import glob, hashlib, io, json, os, re, stat, sys, tarfile
    ${TREE_DIGEST_FUNCTION}
    os.chdir("/mnt/data")
    ${typeof known === "string" ? loadKnownFromList(known) : loadKnownFromMemory(known.digest)}
    now, skipped, left = {}, [], ${limits.maxTotalBytes}
    folders, closed, modes, renamed = [], [], {}, {}
    def skip(path, problem):
        skipped.append([os.fsencode(path).decode("utf-8", "backslashreplace"), str(problem)])
    def close(problem):
        closed.append(os.path.relpath(problem.filename, "."))
        skip(closed[-1], problem)
    tar = tarfile.open("${archive}", "w", format=tarfile.PAX_FORMAT)
    default = os.stat("${archive}").st_mode & 0o777
    try:
        os.chmod("${archive}", 0o700)
        has_modes = os.stat("${archive}").st_mode & 0o777 == 0o700
        os.chmod("${archive}", default)
    except OSError:
        has_modes = False
    def pack(path, size, mode, file):
        info = tarfile.TarInfo(path)
        info.size, info.mode = size, mode
        with file:
            tar.addfile(info, file)
    for folder, inner, names in os.walk(".", onerror=close):
        prefix = "" if folder == "." else folder[2:] + "/"
        for path in [prefix + name for name in inner]:
            if os.path.islink(path):
                skip(path, "${SYMLINK_REASON}")
            elif path.count("/") > 63 or re.search(r"[\\udc80-\\udcff]", path):
                if not os.listdir(path):
                    skip(path, "${ODD_NAME_REASON}")
            else:
                folders.append(path)
        for path in [prefix + name for name in names]:
            if prefix == "" and path not in known and re.match(r"${UPLOADED_NAME_PATTERN}", path):
                continue
            try:
                facts = os.lstat(path)
                size = facts.st_size
                if stat.S_ISLNK(facts.st_mode):
                    raise ValueError("${SYMLINK_REASON}")
                if not stat.S_ISREG(facts.st_mode):
                    raise ValueError("is neither file nor folder")
                if size > ${limits.maxFileBytes}:
                    raise ValueError("is larger than ${limits.maxFileBytes} bytes")
                with open(path, "rb") as file:
                    first = file.read(1 << 20)
                    one = hashlib.sha256(first)
                    while part := file.read(1 << 20):
                        one.update(part)
                digest = one.hexdigest()
                changed = known.get(path) != digest
                odd = changed and re.search(r"${INVALID_NAME_PATTERN}", path)
                if changed and path not in known and (odd or path.count("/") > 63):
                    raise ValueError("${ODD_NAME_REASON}")
                if changed and size > left:
                    raise ValueError("exceeds the total size of one download")
            except (OSError, ValueError) as problem:
                skip(path, problem)
                if path in known:
                    now[path], modes[path] = known[path], None
                continue
            now[path] = digest
            if facts.st_mode & 0o777 != default:
                modes[path] = facts.st_mode & 0o777
            if changed:
                left -= size
                name = path
                if odd:
                    name = f"${RENAMED_PREFIX}{len(renamed)}"
                    renamed[name] = path
                pack(name, size, facts.st_mode, io.BytesIO(first) if size <= 1 << 20 else open(path, "rb"))
    for path in known:
        if path not in now and any(path.startswith(folder + "/") for folder in closed):
            now[path], modes[path] = known[path], None
    gone = [path for path in known if path not in now]
    report = {"deleted": gone, "skipped": skipped, "folders": folders, "renamed": renamed}
    if has_modes:
        report.update(modes=modes, defaultMode=default)
    report = json.dumps(report).encode()
    pack("${REPORT_FILE}", len(report), 0o644, io.BytesIO(report))
    tar.close()
    setattr(sys, "${MEMORY_NAME}", now)
    return tree(now)
print("${OUTPUT_MARK}" + _wink())`;
}

function loadKnownFromList(name: string): string {
  return `with open(glob.glob("*${name}")[0], encoding="utf-8") as file:
        known = json.load(file)`;
}

function loadKnownFromMemory(digest: string): string {
  return `known = getattr(sys, "${MEMORY_NAME}", None)
    if type(known) is not dict or tree(known) != "${digest}":
        return "${MEMORY_MISSING}"`;
}

const MEMORY_MISSING = "forgotten";

/** Whether the interpreter had no matching stored digests, so that the code did nothing. */
export function isMemoryMissing(output: string): boolean {
  return output.includes(OUTPUT_MARK + MEMORY_MISSING);
}

/** Returns the digest that a snippet printed, or `null`. */
export function findDigest(output: string): string | null {
  return /wink:([0-9a-f]{64})/.exec(output)?.[1] ?? null;
}

/** The JSON file that maps each workspace path to its container path, for the model to read. */
export const PATHS_FILE = `${OWN_PREFIX}paths.json`;

/** Creates a unique name for an upload that is not part of the workspace. */
export function createUploadName(extension: string): string {
  return `${OWN_PREFIX}${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}.${extension}`;
}
