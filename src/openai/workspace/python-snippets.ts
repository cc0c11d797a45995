/** What an archive of changes has at its root: the paths that are to go. */
export const REMOVED = ".wink-removed.json";

/** What an archive of found changes has at its root: what else there is to say. */
export const REPORT = ".wink-report.json";

/** How what we upload for ourselves is called: nobody's files. */
export const OWN_PREFIX = "wink-7c1e-";

/** Names at the root that are uploads of ours or of others, unless we know them as files. */
const UPLOADED = `(?:[0-9a-f]{32}|file-\\w{20,})-|${OWN_PREFIX}`;

/** Control characters, backslashes, and what stands for bytes that are no UTF-8. */
const UNFIT = "[\\x00-\\x1f\\x7f-\\x9f\\\\\\udc80-\\udcff]";

const A_LINK = "is a symlink, and only files and folders are brought over";

/** What a snippet prints, and no other code by chance. */
const MARK = "wink:";

/** Where the interpreter remembers all digests between two snippets; code may do anything to it. */
const KEPT = "wink_7c1e";

/** One digest for many files, as `treeDigest` makes it. */
const TREE = `def tree(files):
        whole = hashlib.sha256()
        for path in sorted(files, key=os.fsencode):
            whole.update(f"{files[path]}  {path}\\n".encode())
        return whole.hexdigest()`;

/** What is remembered of what was unpacked. */
const KEEPING = {
  nothing: "",
  all: `setattr(sys, "${KEPT}", written)`,
  also: `before = getattr(sys, "${KEPT}", None)
    if type(before) is dict:
        for path in removed:
            before.pop(path, None)
        before.update(written)`,
} as const;

/**
 * Unpacks an uploaded archive below /mnt/data, takes away what it lists as removed, and prints the
 * digest of what it wrote, as it reads on the disk. `keeps`: what a survey will find remembered.
 */
export function unpackSnippet(archive: string, keeps: keyof typeof KEEPING = "nothing"): string {
  return `def _wink():
    import glob, hashlib, json, os, sys, tarfile
    ${TREE}
    os.chdir("/mnt/data")
    archive = glob.glob("*${archive}")[0]
    removed, written = [], {}
    with tarfile.open(archive) as tar:
        members = [m for m in tar.getmembers() if m.name != "${REMOVED}"]
        if "${REMOVED}" in tar.getnames():
            removed = json.load(tar.extractfile("${REMOVED}"))
        for path in removed:
            if os.path.isdir(path) and not os.path.islink(path):
                if not os.listdir(path):
                    os.rmdir(path)
            elif os.path.lexists(path):
                os.remove(path)
        tar.extractall(".", members)
    os.remove(archive)
    for path in [m.name for m in members if m.isfile()]:
        one = hashlib.sha256()
        with open(path, "rb") as file:
            while part := file.read(1 << 20):
                one.update(part)
        written[path] = one.hexdigest()
    ${KEEPING[keeps]}
    return tree(written)
print("${MARK}" + _wink())`;
}

/** What a survey leaves out, rather than fill this machine's disk. */
export interface SurveyLimits {
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
}

/** From where a survey knows what was there: a list that was uploaded, or what is remembered. */
export type KnownFiles = string | { readonly digest: string };

/**
 * Looks at every file below /mnt/data, packs those that are not as they are known into an archive
 * there, with a report of what is gone, and prints the digest of all there is. What is remembered
 * counts only if it has the digest that is given here; else nothing is done.
 */
export function surveySnippet(known: KnownFiles, archive: string, limits: SurveyLimits): string {
  return `def _wink():
    import glob, hashlib, io, json, os, re, stat, sys, tarfile
    ${TREE}
    os.chdir("/mnt/data")
    ${typeof known === "string" ? fromList(known) : fromMemory(known.digest)}
    now, skipped, left = {}, [], ${limits.maxTotalBytes}
    folders, closed = [], []
    def skip(path, problem):
        skipped.append([path.encode("utf-8", "backslashreplace").decode(), str(problem)])
    def close(problem):
        closed.append(os.path.relpath(problem.filename, "."))
        skip(closed[-1], problem)
    tar = tarfile.open("${archive}", "w", format=tarfile.PAX_FORMAT)
    def pack(path, size, mode, file):
        info = tarfile.TarInfo(path)
        info.size, info.mode = size, mode
        with file:
            tar.addfile(info, file)
    for folder, inner, names in os.walk(".", onerror=close):
        prefix = "" if folder == "." else folder[2:] + "/"
        for path in [prefix + name for name in inner]:
            if os.path.islink(path):
                skip(path, "${A_LINK}")
            else:
                folders.append(path)
        for path in [prefix + name for name in names]:
            if prefix == "" and path not in known and re.match(r"${UPLOADED}", path):
                continue
            try:
                facts = os.lstat(path)
                size = facts.st_size
                if stat.S_ISLNK(facts.st_mode):
                    raise ValueError("${A_LINK}")
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
                if changed and (path.count("/") > 63 or re.search(r"${UNFIT}", path)):
                    raise ValueError("has a name that cannot be taken over")
                if changed and size > left:
                    raise ValueError("is more than is fetched at once")
            except (OSError, ValueError) as problem:
                skip(path, problem)
                if path in known:
                    now[path] = known[path]
                continue
            now[path] = digest
            if changed:
                left -= size
                pack(path, size, facts.st_mode, io.BytesIO(first) if size <= 1 << 20 else open(path, "rb"))
    for path in known:
        if path not in now and any(path.startswith(folder + "/") for folder in closed):
            now[path] = known[path]
    gone = [path for path in known if path not in now]
    report = json.dumps({"deleted": gone, "skipped": skipped, "folders": folders}).encode()
    pack("${REPORT}", len(report), 0o644, io.BytesIO(report))
    tar.close()
    setattr(sys, "${KEPT}", now)
    return tree(now)
print("${MARK}" + _wink())`;
}

function fromList(name: string): string {
  return `with open(glob.glob("*${name}")[0], encoding="utf-8") as file:
        known = json.load(file)`;
}

function fromMemory(digest: string): string {
  return `known = getattr(sys, "${KEPT}", None)
    if type(known) is not dict or tree(known) != "${digest}":
        return "${FORGOTTEN}"`;
}

const FORGOTTEN = "forgotten";

/** Whether a survey found that nothing is remembered, or something else: it did nothing then. */
export function isForgotten(output: string): boolean {
  return output.includes(MARK + FORGOTTEN);
}

/** The digest that a snippet printed; `null` if there is none in what was printed. */
export function digestIn(output: string): string | null {
  return /wink:([0-9a-f]{64})/.exec(output)?.[1] ?? null;
}

/** What tells a model where each file is. */
export const PATHS_FILE = `${OWN_PREFIX}paths.json`;

/** A file name that nothing else in a container has. */
export function ownName(extension: string): string {
  return `${OWN_PREFIX}${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}.${extension}`;
}
