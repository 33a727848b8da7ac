/** The patterns of `--include` and `--exclude`, as in rsync and rclone. All functions are pure. */
import * as Glob from "effect/Glob"

/**
 * The rule of a pattern for a path: the pattern matches whole names at the end of the path, or from its start if the
 * pattern begins with `/`, or it matches a folder of the path.
 */
const ruleOf = (pattern: string): Glob.Glob => {
  const start = pattern.startsWith("/") ? "" : "**/"
  const end = pattern.endsWith("/") ? "/**/*" : "/**"
  return Glob.make(start + pattern.normalize("NFC").replaceAll(/^\/|\/$/g, "") + end, { dot: true })
}

/** The patterns of the two flags. */
export interface Patterns {
  readonly include: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
}

/** The problem of patterns of which one is empty. */
export const problemOf = (patterns: Patterns): string | undefined => {
  const empty = (["include", "exclude"] as const).find((flag) => patterns[flag].some((one) => one.trim() === ""))
  return empty && `--${empty} is empty`
}

/** Whether a file is uploaded: it matches a pattern of `include`, if there is one, and none of `exclude`. */
export const make = ({ exclude, include }: Patterns): ((path: string) => boolean) => {
  const [wanted, unwanted] = [include.map(ruleOf), exclude.map(ruleOf)]
  return (path) => {
    const matches = Glob.match(path.normalize("NFC"))
    return (wanted.length === 0 || wanted.some(matches)) && !unwanted.some(matches)
  }
}
