/**
 * Changes that Stryker cannot write, found in the syntax tree: one for each place of a kind. A change is named by its
 * file, the function around it, its kind, and its number there.
 */
import { parseSync, Visitor } from "oxc-parser"
import type { CallExpression, Expression, Node } from "oxc-parser"

export interface Change {
  /** `upload yield 2`: the second lost `yield*` of the function `upload`. */
  readonly name: string
  readonly start: number
  readonly end: number
  /** What stands there instead. */
  readonly text: string
}

const finalizers = new Set(["ensuring", "onExit", "onInterrupt", "onError", "addFinalizer", "uninterruptible"])
const timeouts = new Set(["timeout", "timeoutOrElse"])
const redactions = /^(?:Redaction\.\w+|redact\w*)$/

/** `Effect.ensuring` → `["Effect", "ensuring"]`, `redact` → `["", "redact"]` */
const calleeOf = ({ callee }: CallExpression): readonly [string, string] => {
  if (callee.type === "Identifier") return ["", callee.name]
  return callee.type === "MemberExpression" && callee.object.type === "Identifier" && !callee.computed
    ? [callee.object.name, callee.property.type === "Identifier" ? callee.property.name : ""]
    : ["", ""]
}

/** The word at a position of SQL that ends a condition. */
const endOfCondition = /^(?:AND|OR|ORDER|GROUP|LIMIT|RETURNING|ON|UNION|SET|WHEN|THEN|END)\b/

/** The end of the condition of SQL that begins at a position. Parts in parentheses and `${}` belong to it. */
const conditionEnd = (sql: string, from: number): number => {
  let depth = 0
  for (let at = from; at < sql.length; at++) {
    if ("({".includes(sql.charAt(at))) depth++
    else if (")}".includes(sql.charAt(at)) && --depth < 0) return at
    else if (depth === 0 && /\s/.test(sql.charAt(at - 1)) && endOfCondition.test(sql.slice(at))) return at
  }
  return sql.length
}

/** Each condition of SQL that an AND joins to others: from where to where. */
const conditions = (sql: string): ReadonlyArray<readonly [number, number]> => [
  ...Array.from(
    sql.matchAll(/\bAND\s+/g),
    ({ 0: and, index }) => [index, conditionEnd(sql, index + and.length)] as const
  ),
  ...Array.from(sql.matchAll(/\bWHERE\s+/g)).flatMap(({ 0: where, index }) => {
    const start = index + where.length
    const end = conditionEnd(sql, start)
    const [and = ""] = /^AND\s+/.exec(sql.slice(end)) ?? []
    return and === "" ? [] : [[start, end + and.length] as const]
  })
]

/** All changes of a text, by place. */
export const changes = (file: string, text: string): ReadonlyArray<Change> => {
  const { errors, program } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} does not parse`)
  const found: Array<Omit<Change, "name"> & { readonly kind: string }> = []
  const functions: Array<{ readonly name: string; readonly start: number; readonly end: number }> = []
  const add = (kind: string, { end, start }: { readonly start: number; readonly end: number }, instead: string) =>
    found.push({ kind, start, end, text: instead })
  const source = ({ end, start }: Node) => text.slice(start, end)
  const named = (name: string, { end, start }: Node) => functions.push({ name, start, end })

  /** `Effect.ensuring(self, f)` → `self`; `pipe(…, Effect.ensuring(f))` → `pipe(…, (self) => self)` */
  const unwrap = (kind: string, call: CallExpression, arity: number) => {
    const [self] = call.arguments
    const isWhole = self !== undefined && call.arguments.length >= arity
    add(kind, call, isWhole ? source(self) : "((self) => self)")
  }

  const property = (call: CallExpression, argument: Expression) => {
    if (argument.type !== "ObjectExpression") return
    for (const one of argument.properties) {
      if (one.type !== "Property" || one.method) continue
      const [comma = ""] = /^\s*,/.exec(text.slice(one.end)) ?? []
      add("option", { start: one.start, end: one.end + comma.length }, "")
    }
  }

  const sql = (node: Node) => {
    const inside = source(node)
    if (!/\b(?:SELECT|UPDATE|DELETE|INSERT|WHERE)\b/.test(inside)) return
    for (const [from, to] of conditions(inside.slice(0, -1)))
      add("sql", { start: node.start + from, end: node.start + to }, "")
  }

  new Visitor({
    FunctionDeclaration: (node) => named(node.id?.name ?? "", node),
    VariableDeclarator: (node) => {
      if (node.id.type === "Identifier" && node.init !== null) named(node.id.name, node)
    },
    ExpressionStatement: (node) => {
      if (node.expression.type === "YieldExpression" && node.expression.delegate) add("yield", node, ";")
    },
    TemplateLiteral: sql,
    CallExpression: (call) => {
      const [module, name] = calleeOf(call)
      if (module === "Effect" && name === "addFinalizer") add("finalizer", call, "Effect.void")
      else if (module === "Effect" && name === "uninterruptible") unwrap("finalizer", call, 1)
      else if (module === "Effect" && finalizers.has(name)) unwrap("finalizer", call, 2)
      else if (module === "Effect" && name === "acquireRelease") unwrap("finalizer", call, 1)
      else if (module === "Effect" && timeouts.has(name)) unwrap("timeout", call, 2)
      else if (redactions.test(module === "" ? name : `${module}.${name}`)) unwrap("redact", call, 1)
      // The fields of a schema are no options.
      if (module !== "Schema") for (const one of call.arguments) if (one.type !== "SpreadElement") property(call, one)
    }
  }).visit(program)

  /** The smallest function around a place. */
  const around = ({ end, start }: { readonly start: number; readonly end: number }): string =>
    functions
      .filter((one) => one.start <= start && end <= one.end)
      .toSorted((a, b) => a.end - a.start - (b.end - b.start))[0]?.name ?? "module"
  const counts = new Map<string, number>()
  return found
    .toSorted((a, b) => a.start - b.start)
    .map(({ end, kind, start, text: instead }) => {
      const place = `${around({ start, end })} ${kind}`
      counts.set(place, (counts.get(place) ?? 0) + 1)
      return { start, end, text: instead, name: `${place} ${counts.get(place)}` }
    })
}
