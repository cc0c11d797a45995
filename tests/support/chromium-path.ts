import { existsSync } from "node:fs";

/** The path of Chromium, or `null` if it is not installed. `.ci/run` installs it. */
export const chromiumPath =
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync) ??
  null;
