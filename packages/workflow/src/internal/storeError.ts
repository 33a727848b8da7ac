/** Converts errors of the database to `StoreFailed`, which says what happened and to which file. */
import * as Redaction from "@assembly-effect/auth/Redaction"
import * as Predicate from "effect/Predicate"
import { StoreFailed } from "../DurableError.ts"

/** An error and its causes, the outermost error first. The list ends before an error that it already contains. */
const chain = (error: unknown): ReadonlyArray<Error> => {
  const found = new Set<Error>()
  for (let at = error; at instanceof Error && !found.has(at); at = at.cause) found.add(at)
  return [...found]
}

/** Joins the messages of an error and of its causes. Equal messages are joined once, and secrets are removed. */
const problemOf = (errors: ReadonlyArray<Error>): string => {
  const messages = errors.map(({ message, name }) => (message === "" ? name : message))
  const text = [...new Set(messages)].join(": ")
  return Redaction.text(text === "" ? "a value that is not an Error" : text, { max: 400 })
}

/** Describes an error of the database. With SQLite, one of the causes is a `SqliteError`, which names the file. */
export const of =
  (operation: string) =>
  (error: unknown): StoreFailed => {
    const errors = chain(error)
    const path = errors.flatMap((one) =>
      Predicate.hasProperty(one, "path") && typeof one.path === "string" ? [one.path] : []
    )[0]
    return new StoreFailed({ operation, description: problemOf(errors), ...(path === undefined ? {} : { path }) })
  }

/** The error of a row that cannot be decoded. `invalid` names the invalid columns, but not their values. */
export const damaged = (key: string, invalid: ReadonlyArray<string | number | undefined>): StoreFailed =>
  new StoreFailed({ operation: "decode", description: `invalid ${[...new Set(invalid)].join(", ")}`, key })

/** Whether an error says that the row of a job is damaged. The same access never succeeds later. */
export const isDamaged = (error: unknown): boolean => error instanceof StoreFailed && error.key !== undefined
