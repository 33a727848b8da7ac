import { Assemblies } from "@assembly-effect/api"
import { AssemblyNode } from "@assembly-effect/node"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, DateTime, Effect, Metric, Tracer } from "effect"

/** Collects the spans. In production, the Layer of an exporter takes this place. */
const spans: Array<Tracer.NativeSpan> = []
const tracer = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    spans.push(span)
    return span
  }
})

const program = Effect.gen(function* () {
  const fromDate = DateTime.subtract(yield* DateTime.now, { hours: 1 })
  yield* Assemblies.list({ fromDate }).pipe(Effect.withTracer(tracer))

  for (const { attributes, kind, name } of spans) {
    yield* Console.log(`span ${name}: ${kind}, ${attributes.get("url.template")}`)
  }
  for (const metric of yield* Metric.snapshot) {
    if (metric.type === "Counter") {
      const { operation, outcome } = metric.attributes ?? {}
      yield* Console.log(`metric ${metric.id}: ${metric.state.count}, ${operation}, ${outcome}`)
    }
  }
})

program.pipe(Effect.provide(AssemblyNode.layerConfig()), NodeRuntime.runMain)
