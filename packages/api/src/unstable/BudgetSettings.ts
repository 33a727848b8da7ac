/** What makes a budget over any stores, for hosts of jobs that bring their own stores. */
export { make, Settings } from "../internal/budget.ts"
