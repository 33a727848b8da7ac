/**
 * What the status of a response says about its request.
 */

/**
 * Whether a status is a redirect. A browser reports a redirect that it did not follow as status 0.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRedirect = (status: number): boolean => status === 0 || (status >= 300 && status < 400)

/**
 * Whether a status is a success: any 2xx, because the specification does not name the exact status of most operations
 * (spec.md, "Endpoints").
 *
 * @since 0.1.0
 * @category predicates
 */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/**
 * Statuses from 400 to 499 that do not refuse a request for good. After 408, 409, 425 and 499 it is unknown whether the
 * request was carried out. After 429 and 423 it was not carried out, but may be sent again.
 */
const openBelow500: ReadonlySet<number> = new Set([408, 409, 423, 425, 429, 499])

/**
 * Whether a status refuses a request for good, so that the request was not carried out: 501, or a 4xx other than 408,
 * 409, 423, 425, 429 and 499. After 429 and 423 the request was not carried out either, but may be sent again. After
 * any other error status, it is unknown whether the request was carried out, whatever the body says.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isRefusal = (status: number): boolean =>
  status === 501 || (status >= 400 && status < 500 && !openBelow500.has(status))
