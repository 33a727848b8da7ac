/** What is stored of an error: its tag, and its message without capabilities. */
import * as Redaction from "@assembly-effect/auth/Redaction"
import { SourceFailed } from "@assembly-effect/tus/UploadSource"
import * as Predicate from "effect/Predicate"
import type { Failure } from "../DurableJob.ts"

/**
 * The message of an error, for the failure of a job. The message of `SourceFailed` is replaced, because its advice is
 * for an upload that belongs to no job.
 */
const messageOf = (error: Error): string =>
  error instanceof SourceFailed ? `the upload source failed: ${error.description}` : error.message

const describe = (error: unknown): Failure =>
  Predicate.hasProperty(error, "_tag") && error instanceof Error
    ? { reason: String(error._tag), message: messageOf(error) }
    : { reason: "Defect", message: error instanceof Error ? error.message : "a value that is not an Error" }

/**
 * Messages abbreviate the id of an Assembly to its first characters. `abbreviated` is the number of these characters,
 * and `abbreviation` matches an abbreviated id in a message.
 */
const abbreviated = 6
const abbreviation = /\bAssembly [0-9a-f]{6,}…/gu

/**
 * Removes abbreviated ids, which `Redaction` does not remove. A message may show an abbreviated id to a person, but the
 * database must not contain any part of an id.
 */
const withoutBeginnings = (text: string, assemblyId: string | undefined): string => {
  const named = text.replaceAll(abbreviation, "the Assembly")
  if (assemblyId === undefined) return named
  const start = assemblyId.slice(0, abbreviated)
  return named.replaceAll(/[0-9a-f]+/giu, (run) => (run.toLowerCase().startsWith(start) ? Redaction.mask : run))
}

/** Describes an error of a job. `assemblyId` is a capability, so it is removed from the message. */
export const of = (error: unknown, assemblyId?: string): Failure => {
  const { message, reason } = describe(error)
  const text = Redaction.text(message, { secrets: assemblyId === undefined ? [] : [assemblyId] })
  return { reason, message: withoutBeginnings(text, assemblyId) }
}
