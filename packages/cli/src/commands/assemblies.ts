/** The commands that read and control Assemblies. */
import { Assemblies } from "@assembly-effect/api"
import { Assembly, AssemblyReplay } from "@assembly-effect/schema"
import * as TemplateSchema from "@assembly-effect/schema/Template"
import { Flag } from "effect/cli"
import { DateTime, Effect, Option, Schema, Stream } from "../internal/effect.ts"
import * as Advice from "../internal/advice.ts"
import * as Document from "../internal/document.ts"
import * as Download from "../internal/download.ts"
import { Cli, Failure, Output, Table, Text } from "../internal/index.ts"
import * as TemplateId from "../internal/templateId.ts"
import * as Shown from "../internal/assembly.ts"

/** `assembly get`: shows the Status of an Assembly and its results. */
export const get = Cli.command(
  "get",
  { assemblyId: Cli.assemblyId, json: Cli.json(Assembly.Status) },
  Effect.fnUntraced(function* ({ assemblyId, json }) {
    const status = yield* Assemblies.get(assemblyId)
    const files = Shown.of(status)
    yield* Output.show(json, Assembly.Status, status, (layout) => [
      ...Table.facts(Shown.facts(status), layout),
      ...(files.length === 0 ? [] : [Text.blank, ...Table.render(Shown.columns(files), files, layout)])
    ])
    if (!json) yield* Shown.suggestFor(status)
  })
)

/** Prints a text of one Assembly, broken between words. */
const printWrapped = (text: string) =>
  Effect.flatMap(Output.layout, ({ width = Number.POSITIVE_INFINITY }) =>
    Output.lines<string>(Text.wrap(text, width).map((line) => line.trimEnd()))
  )

/**
 * Prints a line for the Status each time its text changes, but at most one line a second, because nobody can read more.
 * The text of the last Status is always printed.
 */
export const changes = <E, R>(statuses: Stream.Stream<Assembly.Status, E, R>) => {
  let last: string | undefined
  const show = Effect.fnUntraced(function* (status: Assembly.Status) {
    const line = Shown.line(status)
    if (line === last) return
    last = line
    yield* printWrapped(`${Text.date(yield* DateTime.now).slice(11)}  ${line}`)
    if (!Assembly.isOver(status)) yield* Effect.sleep("1 second")
  })
  return Output.whileRead(Stream.buffer(statuses, { capacity: 1, strategy: "sliding" }), show)
}

/** `assembly watch`: prints each change of an Assembly until it ends. */
export const watch = Cli.command(
  "watch",
  { assemblyId: Cli.assemblyId, json: Cli.json(Assembly.Status) },
  Effect.fnUntraced(function* ({ assemblyId, json }) {
    const statuses = Assemblies.watch(assemblyId)
    const last = yield* Stream.runLast(
      json
        ? Output.whileRead(statuses, (status) => Output.jsonLines(Assembly.Status, [status], json))
        : changes(statuses)
    )
    // If nobody reads the output any more, the command ends before the Assembly has ended.
    if (Option.isNone(last) || !(yield* Output.isWritten)) return
    // The exit code tells a script how the Assembly ended.
    const outcome = Assemblies.outcome(last.value)
    if (Option.isSome(outcome)) yield* Effect.fromResult(outcome.value)
    if (!json) yield* Shown.suggestFor(last.value)
  })
)

/** How many Assemblies a command waits for at the same time. */
const concurrency = 8

/** `assembly wait`: waits until Assemblies have completed. */
export const wait = Cli.command(
  "wait",
  { assemblyIds: Cli.assemblyIds, timeout: Cli.durationFlag("timeout", "1h"), json: Cli.json(Assembly.Status) },
  Effect.fnUntraced(function* ({ assemblyIds: ids, json, timeout }) {
    const after = Text.duration(timeout)
    const late = (id: string) => `the Assembly ${id} has not ended after ${after}; --timeout waits longer`
    const waitFor = (id: Assembly.AssemblyId) =>
      Assemblies.awaitCompletion(id, { timeout }).pipe(
        Effect.catchIf(
          (error) => error._tag === "TimedOut" && error.operation === "Assemblies.awaitCompletion",
          () => Effect.fail(Failure.failed(late(id)))
        ),
        Effect.tap((status) =>
          json ? Output.jsonLines(Assembly.Status, [status], json) : printWrapped(`${id}  ${Shown.line(status)}`)
        )
      )
    const [only, ...others] = ids
    if (only !== undefined && others.length === 0) {
      const status = yield* waitFor(only)
      return yield* json ? Effect.void : Shown.suggestFor(status)
    }
    const tell = (id: string) => (error: unknown) => {
      const text = Advice.line(error)
      return Output.error(text.includes(id) ? text : `${id}: ${text}`)
    }
    const [, causes] = yield* Effect.partition(ids, (id) => Effect.tapError(waitFor(id), tell(id)), { concurrency })
    const message = `${causes.length} of ${ids.length} Assemblies did not complete`
    if (causes.length > 0) return yield* new Failure.CommandError({ message, causes })
  })
)

/** `assembly cancel`: stops Assemblies. */
export const cancel = Cli.command(
  "cancel",
  { assemblyIds: Cli.assemblyIds, json: Cli.json(Assembly.Status) },
  Effect.fnUntraced(function* ({ assemblyIds: ids, json }) {
    for (const id of ids) {
      const status = yield* Assemblies.cancel(id)
      const sentence =
        Assembly.state(status) === "Canceled"
          ? `canceled ${status.assembly_id}`
          : `${status.assembly_id} had ended before: ${Shown.state(status)}`
      yield* json ? Output.jsonLines(Assembly.Status, [status], json) : Output.lines<string>([sentence])
    }
  })
)

/** Changes to Steps: a changed Step may omit its robot. */
const Changes = Schema.Struct({ steps: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Json)) })

/** `assembly replay`: runs the files of an Assembly again. */
export const replay = Cli.command(
  "replay",
  {
    assemblyId: Cli.assemblyId,
    template: Flag.optional(Flag.withSchema(Cli.text("template", "template"), TemplateSchema.IdOrName)),
    reparseTemplate: Cli.flag("reparse-template"),
    steps: Document.stepsFlag,
    ...Document.fieldsFlags,
    notifyUrl: Cli.optional("notify-url", "url"),
    wait: Cli.flag("wait"),
    json: Cli.json(Assembly.Status)
  },
  Effect.fnUntraced(function* ({ assemblyId, json, notifyUrl, reparseTemplate, template, wait: isAwaited, ...files }) {
    const changed = yield* Document.steps(Changes, files.steps)
    const fields = yield* Document.fields(files)
    const steps = Option.map(changed, (found) => found.steps)
    const params = yield* TemplateId.inParams(Cli.given({ steps, fields, notifyUrl, templateId: template }))
    const options = reparseTemplate ? { reparseTemplate } : {}
    const replayed = yield* Assemblies.replay(assemblyId, { ...params, ...options })
    if (!isAwaited && json) return yield* Output.json(AssemblyReplay.Replayed, replayed, json)
    if (!json) yield* Output.lines([replayed.assembly_id])
    if (!isAwaited) return yield* Shown.suggest(`wait ${replayed.assembly_id}`)
    const status = yield* Assemblies.awaitCompletion(replayed.assembly_id)
    yield* Output.show(json, Assembly.Status, status, () => Output.sentence(Shown.line(status)))
    if (!json) yield* Shown.suggestFor(status)
  })
)

const stepsFlag = Cli.repeated(Cli.text("step", "step"))

/** A file with its Step. */
const Row = Schema.Struct({ step: Schema.String, ...Assembly.File.schema.fields })

const listResults = Cli.command(
  "results list",
  { assemblyId: Cli.assemblyId, steps: stepsFlag, json: Cli.json(Row) },
  Effect.fnUntraced(function* ({ assemblyId: id, json, steps }) {
    const status = yield* Assemblies.get(id)
    const files = yield* Download.find(status, steps)
    const rows = files.map(({ file, step }) => ({ ...file, step }))
    yield* Output.show(json, Schema.Array(Row), rows, (layout) =>
      Table.render(Shown.columns(files), files, { ...layout, empty: "no results" })
    )
    // The suggested command downloads the results of all Steps, so it does not fit a list of some Steps.
    if (!json && steps.length === 0) yield* Shown.suggestFor(status)
  })
)

const download = Cli.command(
  "results download",
  {
    assemblyId: Cli.assemblyId,
    output: Flag.withDefault(Cli.output, "."),
    steps: stepsFlag,
    overwrite: Cli.flag("overwrite"),
    concurrency: Flag.withDefault(Cli.number("concurrency", [1, 32]), 4),
    json: Cli.jsonLines
  },
  Effect.fnUntraced(function* ({ assemblyId: id, ...options }) {
    const status = yield* Assemblies.get(id)
    if (!Assembly.isOver(status)) {
      return yield* Failure.failed(`the Assembly ${id} is still running`, `assembly wait ${id} waits for its end.`)
    }
    yield* Download.save(status, options)
  })
)

/** `assembly results`: the result files of an Assembly. */
export const results = Cli.group("results", [listResults, download])
