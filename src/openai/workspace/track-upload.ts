import { type ProgressListener, trackBytes } from "../../base/track-bytes.ts";
import { CountedFile } from "../http/counted-file.ts";

/** Uploads a file with `request`, which may send it several times, and reports the bytes that are sent. */
export async function trackUpload<Result>(
  progress: ProgressListener | null,
  file: File,
  request: (file: File) => Promise<Result>,
): Promise<Result> {
  if (!progress) return await request(file);
  const counted = new CountedFile([file], file.name);
  const readProgress = () => ({ doneBytes: counted.readBytes, totalBytes: file.size });
  return await trackBytes(progress, { step: "upload", read: readProgress }, () => request(counted));
}

/** Starts to count a download, from 0 if it starts again. Returns a function that adds the bytes that arrive. */
export type StartCount = (fileId: string) => (bytes: number) => void;

/** Runs downloads of `totalBytes` and reports the bytes that arrive. `work` gets `undefined` if no one listens. */
export async function trackDownloads<Result>(
  progress: ProgressListener | null,
  totalBytes: number,
  work: (startCount?: StartCount) => Promise<Result>,
): Promise<Result> {
  if (!progress) return await work();
  const counts = new Map<string, number>();
  const startCount: StartCount = (fileId) => {
    let count = 0;
    counts.set(fileId, count);
    return (bytes) => {
      count += bytes;
      counts.set(fileId, count);
    };
  };
  const readProgress = () => ({
    doneBytes: [...counts.values()].reduce((sum, one) => sum + one, 0),
    totalBytes,
  });
  return await trackBytes(progress, { step: "fetch", read: readProgress }, () => work(startCount));
}

/** Runs `work`, which unpacks an archive of `totalBytes` in a container. Its bytes are done when it ends. */
export async function trackUnpacking<Result>(
  progress: ProgressListener | null,
  totalBytes: number,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!progress) return await work();
  const readProgress = () => ({ doneBytes: 0, totalBytes });
  return await trackBytes(progress, { step: "unpack", read: readProgress }, work);
}
