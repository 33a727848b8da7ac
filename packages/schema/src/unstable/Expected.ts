/**
 * Errors that a program expects.
 */
import * as Schema from "effect/Schema"

/** Sets how many frames the stack of a new error has. A runtime may refuse it. */
const setFrames = (limit: unknown) => Reflect.set(Error, "stackTraceLimit", limit)

const withoutFrames: ProxyHandler<new () => object> = {
  construct(...made) {
    const { stackTraceLimit }: { readonly stackTraceLimit?: unknown } & ErrorConstructor = Error
    setFrames(0)
    try {
      return Reflect.construct(...made)
    } finally {
      setFrames(stackTraceLimit)
    }
  }
}

/** Any arguments, because the types of the result are those of `Schema.TaggedError`. */
type Make = (...args: ReadonlyArray<unknown>) => new () => object

/**
 * `Schema.TaggedError`, whose errors have no frames in their `stack`: the message says what happened, and all frames
 * would be inside of the packages. The spans say where the program failed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const TaggedError: typeof Schema.TaggedError = (() => {
  const make = Schema.TaggedError() as unknown as Make
  const taggedError: Make = (...args) => new Proxy(make(...args), withoutFrames)
  // The proxy changes only how long the stack of an instance is.
  return taggedError as unknown as ReturnType<typeof Schema.TaggedError>
}) as typeof Schema.TaggedError
