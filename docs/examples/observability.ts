/**
 * Sends the spans, metrics and logs of a program to an OpenTelemetry collector with one Layer. The code that calls
 * operations does not change.
 */
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Otlp from "effect/observability/Otlp"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"

export const layerObservability = (collector: string) =>
  Otlp.layer({ baseUrl: collector, resource: { serviceName: "nightly-report" } }).pipe(
    Layer.provide([FetchHttpClient.layer, OtlpSerialization.layerJson])
  )
