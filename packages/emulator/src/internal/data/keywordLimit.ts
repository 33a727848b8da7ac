/**
 * The maximum number of keywords in a list request. Each keyword is searched in every row that matches the other
 * filters of the request.
 */
export const max = 20

/** The maximum length of a keyword in a request for the list of Assemblies, in characters. */
export const maxLength = 256
