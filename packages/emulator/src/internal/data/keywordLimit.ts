import * as Refusal from "../http/refusal.ts"

/**
 * The maximum number of keywords in a list request. Each keyword is searched in every row that matches the other
 * filters of the request.
 */
const max = 20

/** Refuses too many keywords, and keywords of more than `maxLength` characters. */
export const check = (keywords: ReadonlyArray<string>, maxLength = Infinity) => {
  const refuse = (most: string) => Refusal.check([{ path: ["keywords"], message: `Expected at most ${most}` }])
  if (keywords.length > max) return refuse(`${max} keywords`)
  return keywords.some(({ length }) => length > maxLength) ? refuse(`${maxLength} characters each`) : Refusal.check([])
}
