/**
 * How files get into a container. `"bootstrap"`: one archive, unpacked by a short extra request.
 * `"prompt"`: one archive, which the model is instructed to unpack. `"files"`: one upload per file. Only
 * `"bootstrap"` finds modes, empty folders and symlinks that code makes; the others read the provider's
 * file list, which lacks them.
 */
export type Unpack = "bootstrap" | "prompt" | "files";
