/** The patterns of `--include` and `--exclude`, as in rsync and rclone. All functions are pure. */

/** The parts of a pattern: `**` with the `/` after it, a wildcard, a set, alternatives, or any other character. */
const parts = /(\*\*\/?)|(\*)|(\?)|\[(!?)([^\]/]+)\]|\{([^{}]*)\}|([^])/gu

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`)

const source = (pattern: string): string =>
  pattern.replaceAll(parts, (_, deep, many, one, not, set, alternatives, other) => {
    if (deep !== undefined) return deep === "**" ? ".*" : "(?:.*/)?"
    if (many !== undefined) return "[^/]*"
    if (one !== undefined) return "[^/]"
    if (set !== undefined) return `[${not === "!" ? "^" : ""}${String(set).replaceAll(/[\\\]^]/g, String.raw`\$&`)}]`
    if (alternatives === undefined) return literal(String(other))
    return `(?:${String(alternatives).split(",").map(source).join("|")})`
  })

/**
 * The rule of a pattern for a path: the pattern matches whole names at the end of the path, or from its start if the
 * pattern begins with `/`, or it matches a folder of the path. A set such as `[b-a]` has no rule.
 */
const ruleOf = (pattern: string): RegExp | undefined => {
  const start = pattern.startsWith("/") ? "^" : "(?:^|/)"
  const end = pattern.endsWith("/") ? "/" : "(?:/|$)"
  try {
    return new RegExp(start + source(pattern.normalize("NFC").replaceAll(/^\/|\/$/g, "")) + end, "u")
  } catch {
    return undefined
  }
}

/** The patterns of the two flags. */
export interface Patterns {
  readonly include: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
}

/** The problem of the first pattern that is empty or has no rule. */
export const problemOf = (patterns: Patterns): string | undefined =>
  (["include", "exclude"] as const)
    .flatMap((flag) =>
      patterns[flag].flatMap((pattern) => {
        if (pattern.trim() === "") return [`--${flag} is empty`]
        return ruleOf(pattern) === undefined ? [`--${flag} ${pattern}: the pattern cannot be read`] : []
      })
    )
    .at(0)

/** Whether a file is uploaded: it matches a pattern of `include`, if there is one, and none of `exclude`. */
export const make = ({ exclude, include }: Patterns): ((path: string) => boolean) => {
  const [wanted, unwanted] = [include, exclude].map((patterns) => patterns.flatMap((one) => ruleOf(one) ?? []))
  return (path) => {
    const matches = (rule: RegExp) => rule.test(path.normalize("NFC"))
    return (wanted?.length === 0 || wanted?.some(matches) === true) && unwanted?.some(matches) !== true
  }
}
