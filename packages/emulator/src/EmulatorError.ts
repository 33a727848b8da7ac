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

/** A Template that was given to the emulator breaks a rule. */
export class InvalidTemplate extends Data.TaggedError("InvalidTemplate")<{
  readonly id: string
  readonly problem: string
}> {
  override get message() {
    return `the Template ${this.id} is none: ${this.problem}`
  }
}

/** Whatever keeps an emulator from its work, beside files and ports that cannot be had. */
export type EmulatorError = DataInUse | KeyInTwoWorkspaces | InvalidTemplate
