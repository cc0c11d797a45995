/** Decodes the octal escapes of a path in `/proc/self/mountinfo`, such as `\040` for a space. */
export function decodeMountPath(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}
