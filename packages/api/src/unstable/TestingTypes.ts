/** Declarations of programs name these types of `testing`. */
export type { AnswerCase } from "../internal/testing/answers.ts"
export type { Options, Tag } from "../internal/testing/generated.ts"
