import { posix } from "node:path";
import type { Page } from "./parse-page.ts";
import { hasPath, type Repository } from "./repository.ts";

/** Finds links that lead nowhere: missing files, missing anchors, and addresses without https. */
export function checkLinks(page: Page, repository: Repository): readonly string[] {
  const broken = page.links.flatMap(({ target, line }) => {
    const problem = checkLink(page, target, repository);
    return problem ? [`${page.path}:${line}: ${problem}`] : [];
  });
  const undefinedLabels = page.undefinedLabels.map(
    ({ text, line }) => `${page.path}:${line}: the link label [${text}] has no definition`,
  );
  return [...broken, ...undefinedLabels];
}

/**
 * Finds links of a published page to files that are neither published nor among the exceptions: files, and folders
 * with a slash at the end.
 */
export function checkPublishedLinks(
  page: Page,
  published: ReadonlySet<string>,
  exceptions: readonly string[] = [],
): readonly string[] {
  if (!published.has(page.path)) return [];
  return page.links.flatMap(({ target, line }) => {
    const path = toPath(page, target);
    if (path === undefined || hasPath(published, path)) return [];
    if (exceptions.some((one) => path === one || (one.endsWith("/") && path.startsWith(one))))
      return [];
    return [`${page.path}:${line}: ${path} is not in the package`];
  });
}

function checkLink(page: Page, target: string, repository: Repository): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return checkAddress(target);
  const path = toPath(page, target);
  const [, anchor] = target.split("#");
  if (path === undefined || path.startsWith("..")) return `${target} leaves the repository`;
  if (!hasPath(repository.files, path)) return `${path} does not exist`;
  if (anchor === undefined) return;
  const named = repository.pages.get(path);
  if (!named) return `${target} has an anchor, but ${path} is not a page`;
  if (!named.anchors.has(decodeURIComponent(anchor))) return `${path} has no anchor #${anchor}`;
}

/** Checks an address without opening it. */
function checkAddress(target: string): string | undefined {
  if (target.startsWith("mailto:")) return;
  if (!URL.canParse(target)) return `${target} is not an address`;
  const { protocol, hostname } = new URL(target);
  const isLocal = protocol === "http:" && ["localhost", "127.0.0.1"].includes(hostname);
  if (protocol !== "https:" && !isLocal) return `${target} must begin with https:`;
}

/** The path of a relative link from the root of the repository, or undefined for an address. */
function toPath(page: Page, target: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(target) || target.startsWith("/")) return;
  const [path = ""] = target.split("#");
  return path === ""
    ? page.path
    : posix.join(posix.dirname(page.path), decodeURIComponent(path)).replace(/\/$/, "");
}
