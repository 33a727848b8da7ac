/**
 * A change to an important line that a test of its package must notice.
 *
 * - `name`: what the change breaks, in words.
 * - `file`: below the root; its package is the one whose tests run.
 * - `find`: text that occurs in the file exactly once. `replace`: what stands there instead.
 * - `tests`: filters of the test files that are asked first. When they notice nothing, the whole package is asked.
 */
export interface Mutant {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace: string
  readonly tests: ReadonlyArray<string>
}
