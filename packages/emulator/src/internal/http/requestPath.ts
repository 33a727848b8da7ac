import type * as HttpServerRequest from "effect/http/HttpServerRequest"

/** The path of a request, without its query. */
export const of = ({ url }: HttpServerRequest.HttpServerRequest): string => url.split("?", 1)[0] ?? ""

const segments = (path: string): ReadonlyArray<string> => path.replace(/\/$/, "").split("/")

/** Whether a path matches the pattern of a route. A pattern segment that starts with `:` matches any segment. */
export const matches = (pattern: string, path: string): boolean => {
  const expected = segments(pattern)
  const actual = segments(path)
  return (
    expected.length === actual.length &&
    expected.every((segment, index) => segment.startsWith(":") || segment === actual[index])
  )
}
