/**
 * The rules of a request, each with generators of values that break it and of values at its limit.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { InvalidRequest } from "../../InvalidRequest.ts"
import type { Break, Change, Key, Options, Path, Rules, Values } from "../../unstable/TestingRules.ts"

export type Form = keyof Rules

/** What both forms have. */
export const inBoth = <A>(of: (form: Form) => A): { readonly decoded: A; readonly wire: A } => ({
  decoded: of("decoded"),
  wire: of("wire")
})

/** Chooses one of several arbitraries with equal probability. */
export const oneOf = <A>(...all: ReadonlyArray<Arbitrary.Arbitrary<A>>): Arbitrary.Arbitrary<A> =>
  Arbitrary.flatMap(
    Arbitrary.schema(Schema.Literals(all.map((_, index) => index))),
    // The index is always in range.
    (index) => all[index] as Arbitrary.Arbitrary<A>
  )

/** Values of a generator, or none if it discards too many. */
export const sample = <A>(generator: Arbitrary.Arbitrary<A>, count: number, size = 10): ReadonlyArray<A> =>
  Effect.runSync(
    Arbitrary.sampleEffect(generator, { count, size, maxDiscards: 1000, seed: "Testing.make" }).pipe(
      Effect.orElseSucceed(() => [])
    )
  )

type Parent = Readonly<Record<PropertyKey, unknown>>

const isParent = (value: unknown): value is Parent => Predicate.isObjectOrArray(value)

/** The part of a value at a path, if it is there. */
export const partAt = (target: unknown, path: Path): Option.Option<unknown> => {
  const [key, ...rest] = path
  if (key === undefined) return Option.some(target)
  if (!isParent(target) || Array.isArray(target) !== (typeof key === "number")) return Option.none()
  return Object.hasOwn(target, key) ? partAt(target[key], rest) : Option.none()
}

/** Changes the parent of the part at a path. None if there is no such parent. */
const changeParent = (
  target: unknown,
  path: Path,
  to: (parent: Parent, key: PropertyKey) => Option.Option<unknown>
): Option.Option<unknown> => {
  const [key, ...rest] = path
  if (key === undefined || !isParent(target)) return Option.none()
  if (rest.length === 0) return to(target, key)
  return Option.flatMap(partAt(target, [key]), (part) =>
    Option.flatMap(changeParent(part, rest, to), (changed) => withPart(target, key, changed))
  )
}

/** A copy of the same class. */
const copyOf = (target: object): object =>
  Object.create(Object.getPrototypeOf(target), Object.getOwnPropertyDescriptors(target))

const plain = { configurable: true, enumerable: true, writable: true }

/** Adds a key to an object, but no element to an array. */
const withPart = (parent: Parent, key: PropertyKey, value: unknown): Option.Option<unknown> => {
  if (Array.isArray(parent)) {
    return typeof key === "number" && Object.hasOwn(parent, key) ? Option.some(parent.with(key, value)) : Option.none()
  }
  if (typeof key === "number") return Option.none()
  return Option.some(Object.defineProperty(copyOf(parent), key, { ...plain, value }))
}

const withoutPart = (parent: Parent, key: PropertyKey): Option.Option<unknown> => {
  if (Array.isArray(parent) || !Object.hasOwn(parent, key)) return Option.none()
  const copy = copyOf(parent)
  Reflect.deleteProperty(copy, key)
  return Option.some(copy)
}

/** Sets the part at a path to a value. */
export const setter =
  (path: Path, value: unknown): Change["apply"] =>
  (valid) =>
    path.length === 0 ? Option.some(value) : changeParent(valid, path, (parent, key) => withPart(parent, key, value))

/** Removes the key at a path. */
export const remover =
  (path: Path): Change["apply"] =>
  (valid) =>
    changeParent(valid, path, withoutPart)

export const pathIn = (form: Form, keys: ReadonlyArray<Key>): Path =>
  keys.map((key) => (typeof key === "object" ? key[form === "decoded" ? 0 : 1] : key))

/** A mistake in the rules of a test. */
export const mistake = (operation: string, path: Path, message: string): InvalidRequest =>
  new InvalidRequest({
    operation,
    issues: [{ path: path.map((key) => (Number.isFinite(key) ? Number(key) : String(key))), message }]
  })

const valuesIn = (form: Form, all: Values | undefined): Arbitrary.Arbitrary<unknown> | undefined =>
  all === undefined || Arbitrary.isArbitrary(all) ? all : all[form]

/** Sets the part at a path to the generated values. `below` is the path of the invalid part inside these values. */
export const set = (path: Path, to: Arbitrary.Arbitrary<unknown>, below: Path = []): Arbitrary.Arbitrary<Change> =>
  Arbitrary.map(to, (value) => ({ path: [...path, ...below], apply: setter(path, value) }))

/** A rule in the forms in which `bad` has changes of the part at a path. */
const inForms = (
  { at, code, name }: Pick<Options, "at" | "code" | "name">,
  changes: (path: Path, form: Form) => Pick<Break, "bad" | "edge"> | undefined
): Rules =>
  inBoth((form) => {
    const path = pathIn(form, at)
    const found = changes(path, form)
    const parts = path.length === 0 ? [name] : [path.map(String).join("."), name]
    return found === undefined ? [] : [{ name: parts.join(" "), at: path, path, code, ...found }]
  })

/**
 * A rule of one part of a request.
 *
 * @since 0.1.0
 * @category constructors
 */
export const rule = (options: Options): Rules =>
  inForms(options, (path, form) => {
    const broken = valuesIn(form, options.bad)
    const valid = valuesIn(form, options.edge)
    return broken && { bad: set(path, broken, options.below), edge: valid && set(path, valid) }
  })

/**
 * The rule that a key is required. The last key of the path is taken out.
 *
 * @since 0.1.0
 * @category constructors
 */
export const required = (at: ReadonlyArray<Key>, code?: string): Rules =>
  inForms({ at, name: "is required", code }, (path) => ({
    bad: Arbitrary.Constant({ path, apply: remover(path) }),
    edge: undefined
  }))

const unknown = Arbitrary.schema(Schema.String.check(Schema.isPattern(/^x_[a-z]{1,8}$/)))

/**
 * The rule that the object at a path has no unknown key.
 *
 * @since 0.1.0
 * @category constructors
 */
export const closed = (at: ReadonlyArray<Key> = [], code?: string): Rules =>
  inForms({ at, name: "has no unknown key", code }, (path) => ({
    bad: Arbitrary.map(unknown, (key) => ({ path: [...path, key], apply: setter([...path, key], "surplus") })),
    edge: undefined
  }))

export const join = (all: ReadonlyArray<Rules>): Rules => inBoth((form) => all.flatMap((rules) => rules[form]))
