/**
 * The line that names the next command. A command writes this line after its output. The line is only for a person: it
 * is written to the standard error, and only if both outputs are terminals.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Output from "../Output.ts"
import * as Invocation from "./invocation.ts"
import * as ResultFiles from "./resultFiles.ts"

/**
 * What a user may do next: a command without the name of this program, and what the user must do before the command.
 */
export interface Step {
  readonly first?: string
  readonly args: string
}

/** What a user may do next with an Assembly. The result is undefined if there is nothing to do. */
export const ofStatus = (status: Assembly.Status): Step | undefined => {
  const { assembly_id: id } = status
  if (typeof id !== "string") return undefined
  if (!Assembly.isOver(status)) return { args: `wait ${id}` }
  if (Assembly.errorCode(status) !== undefined) return { first: "correct the cause", args: `replay ${id}` }
  return ResultFiles.of(status).some(ResultFiles.hasUrl) ? { args: `results download ${id} -o results` } : undefined
}

/** Writes the next step of a user, if there is one. */
export const suggest = Effect.fnUntraced(function* (step: Step | undefined) {
  const { canAnimate } = yield* TerminalCapabilities.TerminalCapabilities
  const columns = yield* Output.standardError.columns
  if (step === undefined || !canAnimate || columns === 0) return
  const command = yield* Invocation.command(step.args)
  yield* Output.hint(`Next: ${step.first === undefined ? command : `${step.first}, then ${command}`}`)
})

/** Writes what a user may do next with an Assembly. */
export const suggestFor = (status: Assembly.Status): Effect.Effect<void> => suggest(ofStatus(status))
