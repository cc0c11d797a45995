/** Selects the variables that contain no secrets: those that the MCP client selects too. */
export function listSafeVariables(
  all: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): Readonly<Record<string, string>> {
  const names = platform === "win32" ? WINDOWS_VARIABLES : POSIX_VARIABLES;
  const safe = names.flatMap((name) => {
    const value = all[name];
    return value === undefined || value.startsWith("()") ? [] : [[name, value] as const];
  });
  return Object.fromEntries(safe);
}

const POSIX_VARIABLES = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
const WINDOWS_VARIABLES = [
  ...["APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT"],
  ...["PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432"],
  ...["SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE", "WINDIR"],
];
