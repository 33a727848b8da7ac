/**
 * Spans, metrics and logs of a program, sent to an OpenTelemetry collector: one Layer, and nothing changes where
 * operations are called.
 */
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Otlp from "effect/observability/Otlp"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"

export const layerObservability = (collector: string) =>
  Otlp.layer({ baseUrl: collector, resource: { serviceName: "nightly-report" } }).pipe(
    Layer.provide([FetchHttpClient.layer, OtlpSerialization.layerJson])
  )
