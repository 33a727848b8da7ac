/**
 * A change to an important line that a test must notice.
 *
 * - `name`: what the change breaks, in words.
 * - `file`: below the root.
 * - `find`: text that occurs in the file exactly once. `replace`: what stands there instead.
 * - `tests`: filters of the test files that are asked first. When they notice nothing, the whole package is asked.
 * - `project`: the package whose tests are asked, where it is not the one of the file.
 */
export interface Mutant {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
  readonly tests: ReadonlyArray<string>
  readonly project?: string
}

/** Changes of one file; one that names no tests is for those of all. */
export const changes = (
  file: string,
  tests: ReadonlyArray<string>,
  all: ReadonlyArray<Omit<Mutant, "file" | "tests"> & Partial<Pick<Mutant, "tests">>>
): ReadonlyArray<Mutant> => all.map((change) => ({ tests, ...change, file }))
