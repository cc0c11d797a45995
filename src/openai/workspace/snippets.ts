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

/**
 * Unpacks an uploaded archive below /mnt/data, takes away what it lists as removed, and prints the
 * digest of what it wrote, as it reads on the disk.
 */
export function unpackSnippet(archive: string): string {
  return `def _wink():
    import glob, hashlib, json, os, tarfile
    os.chdir("/mnt/data")
    archive = glob.glob("*${archive}")[0]
    with tarfile.open(archive) as tar:
        members = [m for m in tar.getmembers() if m.name != "${REMOVED}"]
        if "${REMOVED}" in tar.getnames():
            for path in json.load(tar.extractfile("${REMOVED}")):
                if os.path.isdir(path) and not os.path.islink(path):
                    if not os.listdir(path):
                        os.rmdir(path)
                elif os.path.lexists(path):
                    os.remove(path)
        tar.extractall(".", members)
    os.remove(archive)
    tree = hashlib.sha256()
    for path in sorted((m.name for m in members if m.isfile()), key=os.fsencode):
        one = hashlib.sha256()
        with open(path, "rb") as file:
            while part := file.read(1 << 20):
                one.update(part)
        tree.update(f"{one.hexdigest()}  {path}\\n".encode())
    return tree.hexdigest()
print("${MARK}" + _wink())`;
}

/** What a survey leaves out, rather than fill this machine's disk. */
export interface SurveyLimits {
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
}

/**
 * Looks at every file below /mnt/data, packs those that are not as the uploaded list says into an
 * archive there, with a report of what is gone, and prints the digest of all there is.
 */
export function surveySnippet(known: string, archive: string, limits: SurveyLimits): string {
  return `def _wink():
    import glob, hashlib, io, json, os, re, tarfile
    os.chdir("/mnt/data")
    with open(glob.glob("*${known}")[0], encoding="utf-8") as file:
        known = json.load(file)
    now, changed, skipped, left = {}, [], [], ${limits.maxTotalBytes}
    folders, closed = [], []
    def skip(path, problem):
        skipped.append([path.encode("utf-8", "backslashreplace").decode(), str(problem)])
    def close(problem):
        closed.append(os.path.relpath(problem.filename, "."))
        skip(closed[-1], problem)
    for folder, inner, names in os.walk(".", onerror=close):
        for name in inner:
            path = os.path.relpath(os.path.join(folder, name), ".")
            if os.path.islink(path):
                skip(path, "${A_LINK}")
            else:
                folders.append(path)
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), ".")
            if folder == "." and name not in known and re.match(r"${UPLOADED}", name):
                continue
            try:
                if os.path.islink(path):
                    raise ValueError("${A_LINK}")
                if not os.path.isfile(path):
                    raise ValueError("is neither file nor folder")
                one, size = hashlib.sha256(), os.path.getsize(path)
                if size > ${limits.maxFileBytes}:
                    raise ValueError(f"is larger than ${limits.maxFileBytes} bytes")
                with open(path, "rb") as file:
                    while part := file.read(1 << 20):
                        one.update(part)
                if known.get(path) != one.hexdigest():
                    if path.count("/") > 63 or re.search(r"${UNFIT}", path):
                        raise ValueError("has a name that cannot be taken over")
                    if size > left:
                        raise ValueError("is more than is fetched at once")
                    left -= size
                    changed.append(path)
                now[path] = one.hexdigest()
            except (OSError, ValueError) as problem:
                skip(path, problem)
                if path in known:
                    now[path] = known[path]
    for path in known:
        if path not in now and any(path.startswith(folder + "/") for folder in closed):
            now[path] = known[path]
    gone = [path for path in known if path not in now]
    report = json.dumps({"deleted": gone, "skipped": skipped, "folders": folders}).encode()
    with tarfile.open("${archive}", "w", format=tarfile.PAX_FORMAT, dereference=True) as tar:
        info = tarfile.TarInfo("${REPORT}")
        info.size = len(report)
        tar.addfile(info, io.BytesIO(report))
        for path in changed:
            tar.add(path, recursive=False)
    tree = hashlib.sha256()
    for path in sorted(now, key=os.fsencode):
        tree.update(f"{now[path]}  {path}\\n".encode())
    return tree.hexdigest()
print("${MARK}" + _wink())`;
}

/** The digest that a snippet printed; `null` if there is none in what was printed. */
export function digestIn(output: string): string | null {
  return /wink:([0-9a-f]{64})/.exec(output)?.[1] ?? null;
}
