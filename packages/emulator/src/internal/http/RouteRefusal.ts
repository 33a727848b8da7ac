import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as RequestPath from "./RequestPath.ts"
import * as Refusal from "./Refusal.ts"
import * as TusRefusal from "../tus/TusRefusal.ts"

/** A refusal before any route has seen the request, in the form that errors of its route have. */
export const toResponse = (
  request: HttpServerRequest.HttpServerRequest,
  // An error's message would be lost where it is spread.
  { code, message, status }: { readonly code: string; readonly status: number; readonly message: string }
): HttpServerResponse.HttpServerResponse =>
  RequestPath.of(request).startsWith("/resumable/")
    ? TusRefusal.toResponse(new TusRefusal.TusRefusal({ status, message, form: "line", code: `ERR_${code}` }))
    : Refusal.toResponse(new Refusal.Refusal({ code, status, message }))
