import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

/** The page, and the policy that lets only its own script and style run. */
export interface InspectorPage {
  readonly html: string;
  /** Value of the header `Content-Security-Policy`. */
  readonly policy: string;
}

/** The built page, in the package. */
const BUILT = new URL("./page.html", import.meta.url);
/** Builds the page from its sources, in the repository. Not a literal import: the package does not have it. */
const BUNDLER = new URL("../../scripts/build/bundle-page.ts", import.meta.url);

/** Reads the page that the build has written. Without a build, which only the repository can be, it is built now. */
export async function loadPage(built: URL = BUILT): Promise<InspectorPage> {
  const html = await readFile(built, "utf8").catch(() => bundlePage());
  return { html, policy: createPolicy(html) };
}

async function bundlePage(): Promise<string> {
  const { bundlePage: bundle }: { readonly bundlePage: () => Promise<string> } = await import(
    BUNDLER.href
  );
  return await bundle();
}

/** Allows the page's own script and style by their digests, and requests to its own server. */
export function createPolicy(html: string): string {
  const digest = (tag: string) => {
    const contents = [...html.matchAll(new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`, "g"))];
    return contents.map(([, text = ""]) => `'sha256-${hash(text)}'`).join(" ");
  };
  return [
    "default-src 'none'",
    `script-src ${digest("script")}`,
    `style-src ${digest("style")}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
