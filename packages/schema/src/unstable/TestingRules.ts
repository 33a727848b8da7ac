/** What a rule of `testing` is made of. Declarations of programs name these types. */
export type { Break, Change, Key, Options, Path, Rules, Values } from "../internal/rules/rule.ts"
