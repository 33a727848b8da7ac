/**
 * A mutation of an important line that a test must detect.
 *
 * - `name`: what the mutation breaks, in words.
 * - `file`: the path from the root.
 * - `find`: a text that occurs in the file exactly once. `replace`: its replacement.
 * - `tests`: filters of the test files that run first. If they detect nothing, all tests of the package run.
 * - `project`: the package whose tests run, if it is not the package of the file.
 */
export interface Mutant {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
  readonly tests: ReadonlyArray<string>
  readonly project?: string
}

/** The mutations of one file. A mutation without its own `tests` uses the common ones. */
export const changes = (
  file: string,
  tests: ReadonlyArray<string>,
  all: ReadonlyArray<Omit<Mutant, "file" | "tests"> & Partial<Pick<Mutant, "tests">>>
): ReadonlyArray<Mutant> => all.map((change) => ({ tests, ...change, file }))
