import { AssemblyList, DamAsset } from "@assembly-effect/schema"
import * as Testing from "@assembly-effect/schema/testing"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Formatter, Schema } from "effect"
import { decodedIssues, roundTrips, sample, wireIssues } from "./support.ts"
import { requests, responses, schemas } from "./table.ts"

const generators = [...requests, ...responses].map(([name, schema]) => [name, schema, Testing.of(schema)] as const)

/** Checks that invalid values break the rule that they name, at its path, and no other. */
const breaksOnly = (
  schema: Schema.ConstraintCodec<unknown, unknown>,
  rules: ReadonlyArray<Testing.Case<unknown>>,
  issuesOf: typeof wireIssues
) => {
  for (const { invalid, name } of rules) {
    for (const { input, path, rule } of sample(invalid, 15)) {
      const issues = issuesOf(schema, input)
      assert.strictEqual(rule, name)
      assert.notStrictEqual(issues.length, 0, `${name}: ${Formatter.format(input)}`)
      for (const issue of issues) assert.deepStrictEqual(issue.path, path, `${name}: ${issue.message}`)
    }
  }
}

describe("valid values (spec O-45, O-46, O-51, A-2, L-2, L-3, L-4, L-5, L-6, L-7, L-8, O-6, O-42)", () => {
  it.each(schemas)("of %s round-trip", (_, schema) => {
    const holds = roundTrips(schema)
    for (const value of sample(Arbitrary.schema(schema), 100)) assert.isTrue(holds(value))
  })

  it.each(requests)("of %s are generated without exhausted filters", (_, schema) => {
    // One discarded value in a hundred is chance, for example two equal keys. More would mean that the generator
    // misses a rule.
    assert.isNotEmpty(sample(Arbitrary.schema(schema), 300, { maxDiscards: 3 }))
  })

  it.each(generators)("of %s are accepted at the limits of every rule, in both forms", (_, schema, inputs) => {
    for (const value of sample(inputs.valid.decoded, 100)) assert.deepStrictEqual(decodedIssues(schema, value), [])
    for (const value of sample(inputs.valid.wire, 100)) assert.deepStrictEqual(wireIssues(schema, value), [])
    for (const { edge, name } of inputs.rules.decoded) {
      for (const value of edge === undefined ? [] : sample(edge, 10)) {
        assert.deepStrictEqual(decodedIssues(schema, value), [], name)
      }
    }
    for (const { edge, name } of inputs.rules.wire) {
      for (const value of edge === undefined ? [] : sample(edge, 10)) {
        assert.deepStrictEqual(wireIssues(schema, value), [], name)
      }
    }
  })
})

describe.each([
  ["requests (spec R-13, R-14, T-1, O-5, O-11, O-12, O-13, O-18, O-21, O-26, O-27, O-29, O-35, O-40)", requests],
  [
    "responses (spec R-1, R-2, R-3, R-5, R-6, R-8, R-9, R-16, R-18, R-19, R-20, R-21, R-22, R-23, R-25, O-49, O-50, O-52, E-18, V-1)",
    responses
  ]
])("a rule of %s", (_title, all) => {
  it.each(all)("of %s is the only one that its invalid values break", (_, schema) => {
    const { rules } = Testing.of(schema)
    breaksOnly(schema, rules.decoded, decodedIssues)
    breaksOnly(schema, rules.wire, wireIssues)
  })
})

describe("rules that are lifted into a larger schema", () => {
  const Order = Schema.Struct({ files: Schema.NonEmptyArray(DamAsset.MoveRequest), reason: Schema.String })
  const { rules, valid } = Testing.make(
    Order,
    Testing.at(["files", 0], Testing.of(DamAsset.MoveRequest)),
    Testing.required(["files"]),
    Testing.rule({ at: ["reason"], name: "is text", bad: { decoded: Arbitrary.Constant(5) }, code: "NO_REASON" })
  )

  it("have the path of the part with its name in each form, and their codes", () => {
    const inner = Testing.of(DamAsset.MoveRequest)
    const renamed = Testing.at([["files", "the_files"], 0], inner)
    const names = (all: ReadonlyArray<Pick<Testing.Case<unknown>, "code" | "name">>) =>
      all.map(({ code, name }) => [name, code])
    const code = "DAM_INVALID_REQUEST"
    assert.deepInclude(names(renamed.decoded), [
      "files.0.destinationFolderId: Expected 22 characters of Base64URL, the last one A, Q, g or w",
      code
    ])
    assert.deepInclude(names(renamed.wire), [
      "the_files.0.destination_folder_id: Expected 22 characters of Base64URL, the last one A, Q, g or w",
      code
    ])
    assert.deepInclude(names(rules.decoded), ["reason is text", "NO_REASON"])
    assert.notDeepInclude(names(rules.wire), ["reason is text", "NO_REASON"])
  })

  it.each(["decoded", "wire"] as const)("break only what they say, and keep the limits, %s", (form) => {
    const issuesOf = form === "wire" ? wireIssues : decodedIssues
    for (const value of sample<unknown>(valid[form], 200)) assert.deepStrictEqual(issuesOf(Order, value), [])
    breaksOnly(Order, rules[form], issuesOf)
  })
})

it.each(["decoded", "wire"] as const)("the limits of a rule have no other optional part, %s", (form) => {
  const keys = (edge: unknown) => Object.keys(Object(edge))
  const { rules } = Testing.of(AssemblyList.Query)
  for (const { edge, path } of rules[form]) {
    const others = sample<unknown>(edge ?? Arbitrary.Constant({}), 20).flatMap(keys)
    const seen = others.filter((key) => !/^from_?date$/i.test(key) && key !== path[0])
    assert.deepStrictEqual(seen, [])
  }
})

class Person extends Schema.Class<Person>("Person")({ name: Schema.String.check(Schema.isMaxLength(3)) }) {}

describe("the inputs of a schema of one's own", () => {
  const text = Testing.rule({ at: ["a"], name: "is text", bad: Arbitrary.Constant(5), edge: Arbitrary.Constant("") })
  const inner = Schema.Struct({ a: Schema.String, b: Schema.Finite })
  const inOuter = Testing.rule({ at: ["p", "a"], name: "is text", bad: Arbitrary.Constant(5) })

  it.each([
    [
      "a class",
      Person,
      Testing.rule({
        at: ["name"],
        name: "is at most 3 characters",
        bad: Arbitrary.Constant("aaaa"),
        edge: Arbitrary.Constant("aaa")
      })
    ],
    ["a class in a struct", Schema.Struct({ p: Person }), Testing.required(["p", "name"])],
    ["an optional part", Schema.Struct({ p: Schema.optionalKey(inner) }), inOuter],
    ["a nullable part", Schema.Struct({ p: Schema.NullOr(inner) }), Testing.required(["p", "a"])],
    [
      "the third element of a list",
      Schema.Struct({ p: Schema.Array(inner) }),
      Testing.at(["p", 2], Testing.make(inner, text))
    ]
  ])("with %s are valid, or break one rule", (_, schema: Schema.ConstraintCodec<unknown, unknown>, rule) => {
    const { rules, valid } = Testing.make(schema, rule)
    for (const value of sample(valid.decoded, 200)) assert.deepStrictEqual(decodedIssues(schema, value), [])
    for (const value of sample(valid.wire, 200)) assert.deepStrictEqual(wireIssues(schema, value), [])
    breaksOnly(schema, rules.decoded, decodedIssues)
    breaksOnly(schema, rules.wire, wireIssues)
  })

  const move = Testing.of(DamAsset.MoveRequest)
  const Outer = Schema.Struct({ a: Schema.String, list: Schema.Array(Schema.String), p: DamAsset.MoveRequest })
  const Dictionary = Schema.Struct({ a: Schema.String, list: Schema.Record(Schema.String, Schema.String) })
  const badly = (at: Parameters<typeof Testing.required>[0], bad: unknown = 5, edge: unknown = undefined) =>
    Testing.rule({
      at,
      name: "is",
      bad: Arbitrary.Constant(bad),
      edge: edge === undefined ? undefined : Arbitrary.Constant(edge)
    })
  const noPart = "is about a part that no valid value has"

  it.each<[string, Schema.ConstraintCodec<unknown, unknown>, ReadonlyArray<Testing.Rules>, string]>([
    [
      "a bad value that is valid",
      Outer,
      [badly(["a"], "fine")],
      'a: the rule "a is" has a bad value that the schema accepts: "fine"'
    ],
    [
      "an edge that is invalid",
      Outer,
      [badly(["a"], 5, 6)],
      'a: the rule "a is" has an edge that the schema refuses: 6'
    ],
    ["an unknown key", Outer, [badly(["z"])], noPart],
    ["an unknown required key", Outer, [Testing.required(["z"])], noPart],
    ["no key", Outer, [Testing.required([])], "has no bad values"],
    ["the index -1", Outer, [badly(["list", -1])], noPart],
    ["the index 1.5", Outer, [badly(["list", 1.5])], noPart],
    ["the index NaN", Outer, [badly(["list", NaN])], noPart],
    ["the key 0 of a list", Outer, [badly(["list", "0"])], noPart],
    ["the index 0 of an object", Dictionary, [badly(["list", 0])], noPart],
    ["a required element", Outer, [Testing.required(["list", 0])], "has no bad values"],
    ["the same part twice", Outer, [Testing.at(["p"], move), Testing.at(["p"], move)], "is there twice"],
    ["a part of another schema", Outer, [Testing.at(["list"], move)], "Testing.make: list"],
    [
      "a part as an Option",
      Schema.Struct({ o: Schema.Option(DamAsset.MoveRequest) }),
      [Testing.at(["o"], move)],
      "has an edge"
    ]
  ])("are refused by the name of a rule about %s", (_, schema, rules, message) => {
    assert.throws(() => Testing.make(schema, ...rules), message)
  })
})

it.each([5, undefined, {}])("what is no schema, such as %s, is refused", (schema) => {
  assert.throws(() => Testing.of(schema as never), "Testing.of: Expected an operation, such as Dam.Move, or a schema")
})

it.each(generators)("%s has no negative zero on the wire, which JSON does not have", (_, _schema, { valid }) => {
  const hasNegative = (value: unknown): boolean =>
    Object.is(value, -0) || (typeof value === "object" && value !== null && Object.values(value).some(hasNegative))
  assert.isUndefined(sample(valid.wire, 100).find(hasNegative))
})
