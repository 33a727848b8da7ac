/**
 * Why an emulator does not start.
 */
import * as Data from "effect/Data"

/** Another emulator works on the same data. `path` is that of its database. */
export class DataInUse extends Data.TaggedError("DataInUse")<{ readonly path: string }> {
  override get message() {
    return `another emulator uses ${this.path}`
  }
}

/** An Auth Key was given to a second Workspace; it acts for one. */
export class KeyInTwoWorkspaces extends Data.TaggedError("KeyInTwoWorkspaces")<{
  readonly key: string
  /** The slugs, the one that has the key first. */
  readonly workspaces: readonly [string, string]
}> {
  override get message() {
    const [one, other] = this.workspaces
    return `the Auth Key ${this.key} belongs to the Workspace ${one}, not to ${other}`
  }
}

/** An option of the emulator breaks its rule. */
export class InvalidOption extends Data.TaggedError("InvalidOption")<{
  readonly option: "publicUrl" | "allowedHosts"
  readonly value: string
  /** What is expected. */
  readonly rule: string
}> {
  override get message() {
    return `the option ${this.option} is invalid: Expected ${this.rule}, got ${JSON.stringify(this.value)}`
  }
}

/** A Template that was given to the emulator breaks a rule. */
export class InvalidTemplate extends Data.TaggedError("InvalidTemplate")<{
  readonly id: string
  readonly problem: string
}> {
  override get message() {
    return `the Template ${this.id} is none: ${this.problem}`
  }
}

/** What a disk says that takes nothing more. */
const reasons = {
  Full: "there is no space left on the disk",
  ReadOnly: "the file system is read-only",
  Denied: "this process may not write there any more",
  Broken: "the disk failed"
} as const

/**
 * What has to be kept cannot be kept. What was kept before is untouched, and the emulator goes on when there is room
 * again. A request that meets it is answered with status 507.
 *
 * - `path`: the file that could not be written or read.
 * - `code`: what the system or SQLite says, e.g. `ENOSPC`.
 */
export class StorageFailed extends Data.TaggedError("StorageFailed")<{
  readonly path: string
  readonly reason: keyof typeof reasons
  readonly code: string
}> {
  /** What is wrong, without the path. */
  get problem() {
    return `${reasons[this.reason]} (${this.code})`
  }
  override get message() {
    return `cannot use ${this.path}: ${this.problem}`
  }
}

/** Whatever keeps an emulator from its work, beside ports that cannot be had. */
export type EmulatorError = DataInUse | KeyInTwoWorkspaces | InvalidOption | InvalidTemplate | StorageFailed
