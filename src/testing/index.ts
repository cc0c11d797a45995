/**
 * Tools for testing agents and adapters: a fake clock, a recording event bus, a scripted model and recorded runs.
 *
 * Every name exported here is public. Add a line to CHANGELOG.md in the same commit.
 */
export {
  type AdapterContractOptions,
  adapterContract,
  type ContractTest,
} from "./adapter-contract.ts";
export { type Cassette, type CassetteOptions, cassette } from "./cassette/cassette.ts";
export { CassetteError } from "./cassette/cassette-error.ts";
export type {
  ContractAnswer,
  ContractStall,
  ContractSubject,
  ContractThrottle,
  ContractTurn,
  MakeSubject,
} from "./contract/subject.ts";
export type { ContractWorkspace, MakeWorkspace } from "./contract/workspace-case.ts";
export { type FakeClock, type FakeClockOptions, fakeClock } from "./fake-clock.ts";
export type { FilesystemSubject, MakeFilesystem } from "./filesystem/filesystem-case.ts";
export { filesystemContract } from "./filesystem-contract.ts";
export { type RecordingBus, recordingBus } from "./recording-bus.ts";
export {
  type ScriptedClient,
  type ScriptedClientOptions,
  type ScriptStep,
  scriptedClient,
} from "./scripted-client.ts";
export { scriptedSubject } from "./scripted-subject.ts";
export type { ScriptedHostedCall, ScriptedToolCall, ScriptedTurn } from "./scripted-turn.ts";
export {
  type SessionStoreContractOptions,
  sessionStoreContract,
} from "./session-store-contract.ts";
