/**
 * Errors that a program expects.
 */
import type * as Cause from "effect/Cause"
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

/** Any arguments, because the type of the class depends on a class that is being declared. */
type Make = (...args: ReadonlyArray<unknown>) => new () => object

const make = Schema.TaggedError() as unknown as Make

/**
 * `Schema.TaggedError`, with a message that is made of the fields. An error has no frames in its `stack`: the message
 * says what happened, and all frames would be inside of the packages. The spans say where the program failed.
 *
 * @example
 * class NotFound extends Expected.TaggedError<NotFound>()(
 *   "NotFound",
 *   { id: Schema.String },
 *   ({ id }) => `nothing has the id ${id}`
 * ) {}
 *
 * @since 0.1.0
 * @category constructors
 */
export const TaggedError =
  <Self>() =>
  <const Tag extends string, const Fields extends Schema.Struct.Fields>(
    tag: Tag,
    fields: Fields,
    message?: (error: Schema.TaggedStruct<Tag, Fields>["Type"]) => string
  ): Schema.Class<Self, Schema.TaggedStruct<Tag, Fields>, Cause.YieldableError> => {
    const base = make(tag, fields)
    if (message !== undefined) {
      Object.defineProperty(base.prototype, "message", {
        get() {
          return message(this)
        }
      })
    }
    return new Proxy(base, withoutFrames) as never
  }
