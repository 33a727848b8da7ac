import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as RequestPath from "./requestPath.ts"
import * as Refusal from "./refusal.ts"
import * as TusRefusal from "../tus/tusRefusal.ts"

/**
 * Converts the refusal of a middleware to a response. A tus path gets a tus error; any other path gets an API error.
 */
export const toResponse = (
  request: HttpServerRequest.HttpServerRequest,
  // The fields are copied one by one, because spreading an error loses its message.
  { code, message, status }: { readonly code: string; readonly status: number; readonly message: string }
): HttpServerResponse.HttpServerResponse =>
  RequestPath.of(request).startsWith("/resumable/")
    ? TusRefusal.toResponse(new TusRefusal.TusRefusal({ status, message, form: "line", code: `ERR_${code}` }))
    : Refusal.toResponse(Refusal.refuse(code, status, message))
