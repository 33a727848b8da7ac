// Each schema without one of its checks accepts a value that a rule calls invalid.
import * as Testing from "@assembly-effect/schema/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { decodedIssues, sample, wireIssues } from "./support.ts"
import { requests, responses } from "./table.ts"

type Codec = Schema.ConstraintCodec<unknown, unknown>
type Node = SchemaAST.AST

const copy = <A extends object>(node: A, changes: Partial<Record<keyof A, unknown>>): A =>
  Object.create(Object.getPrototypeOf(node), {
    ...Object.getOwnPropertyDescriptors(node),
    ...Object.fromEntries(Object.entries(changes).map(([key, value]) => [key, { value, enumerable: true }]))
  })

/** A node whose children are changed. */
const descend = (node: Node, change: (child: Node) => Node): Node => {
  const encoding = node.encoding?.map((link) => copy(link, { to: change(link.to) }))
  const linked = encoding === undefined ? node : copy(node, { encoding })
  switch (linked._tag) {
    case "Objects":
      return copy(linked, {
        propertySignatures: linked.propertySignatures.map((one) => copy(one, { type: change(one.type) })),
        indexSignatures: linked.indexSignatures.map((one) => copy(one, { type: change(one.type) }))
      })
    case "Arrays":
      return copy(linked, { elements: linked.elements.map(change), rest: linked.rest.map(change) })
    case "Union":
      return copy(linked, { types: linked.types.map(change) })
    default:
      return linked
  }
}

const rewrite = (node: Node, change: (node: Node) => Node): Node =>
  change(descend(node, (child) => rewrite(child, change)))

/** `generateFew` bounds only what is generated. */
const isRule = ({ annotations }: SchemaAST.Check<unknown>): boolean => annotations?.["expected"] !== "an object"

/** Without a check, wherever it occurs: the two sides of a codec share their checks. */
const withoutCheck = (check: SchemaAST.Check<unknown>) => (node: Node) => {
  const left = node.checks?.filter((one) => one !== check)
  return left === undefined ? node : copy(node, { checks: left.length === 0 ? undefined : left })
}

/** Any value instead of a type. A check of the type would still refuse most values, and is a mutant of its own. */
const anyType = (node: Node): Node => copy(Schema.Unknown.ast, { context: node.context })

const optional = (node: Node): Node => Schema.optionalKey(Schema.make(node)).ast

/** With another type of a property, on both sides of a codec of renamed keys. */
const withProperty = (index: number, change: (type: Node) => Node) => {
  const inObjects = (node: Node): Node =>
    SchemaAST.isObjects(node)
      ? copy(node, {
          encoding: node.encoding?.map((link) => copy(link, { to: inObjects(link.to) })),
          propertySignatures: node.propertySignatures.map((one, position) =>
            position === index ? copy(one, { type: change(one.type) }) : one
          )
        })
      : node
  return inObjects
}

const mutants = ({ ast }: Codec): ReadonlyArray<readonly [missing: string, schema: Codec]> => {
  const checks = new Set<SchemaAST.Check<unknown>>()
  rewrite(ast, (node) => {
    for (const check of node.checks?.filter(isRule) ?? []) checks.add(check)
    return node
  })
  const properties = SchemaAST.isObjects(ast) ? ast.propertySignatures : []
  const wire = ast.encoding?.[0]?.to ?? ast
  /** Whether the type of a property stands alone, without a check and without an encoding of its own. */
  const isPlain = (type: Node, index: number) =>
    type.checks === undefined && SchemaAST.isObjects(wire) && wire.propertySignatures[index]?.type === type
  const found = [...checks].map((check): readonly [string, Node] => [
    String(check.annotations?.["expected"]),
    rewrite(ast, withoutCheck(check))
  ])
  for (const [index, { name, type }] of properties.entries()) {
    const key = String(name)
    if (!SchemaAST.isOptional(type)) found.push([`${key} as a required key`, withProperty(index, optional)(ast)])
    if (isPlain(type, index)) found.push([`the type of ${key}`, withProperty(index, anyType)(ast)])
  }
  return found.map(([missing, node]) => [missing, Schema.make<Codec>(node)])
}

/** Checks that are there for their message: another check of the same part refuses the same values. */
const repeated = new Set([
  "AssemblyStatistics.ErrorBucket: a finite number",
  "AssemblyStatistics.ErrorTotal: a finite number",
  "AssemblyList.Query: a date-time YYYY-MM-DD HH:MM:SS",
  "Auth.OpenTokenRequest: scopes separated by single spaces",
  "Auth.TokenRequest: scopes separated by single spaces",
  "DamEntries.MoveEntryRequest: at least 1 character",
  "DamEntries.MoveEntryRequest: a path in valid Unicode",
  "Template.Query: a date-time YYYY-MM-DD HH:MM:SS"
])

describe("without any one of its checks", () => {
  it.each([...requests, ...responses])("%s accepts what a rule says is invalid", (name, schema) => {
    const { decoded, wire } = Testing.of(schema).rules
    const inputs = (all: ReadonlyArray<Testing.Case<unknown>>) =>
      all.flatMap(({ invalid }) => sample(invalid, 60).map(({ input }) => input))
    const invalid = { decoded: inputs(decoded), wire: inputs(wire) }
    // A check that meets a value of another type may throw: nothing in front of it has refused the value.
    const isAccepted = (issuesOf: () => ReadonlyArray<unknown>) => {
      try {
        return issuesOf().length === 0
      } catch {
        return true
      }
    }
    const survivors = mutants(schema).filter(
      ([missing, mutant]) =>
        !repeated.has(`${name}: ${missing}`) &&
        !invalid.decoded.some((input) => isAccepted(() => decodedIssues(mutant, input))) &&
        !invalid.wire.some((input) => isAccepted(() => wireIssues(mutant, input)))
    )
    assert.strictEqual(survivors.map(([missing]) => missing).join("; "), "")
  })
})
