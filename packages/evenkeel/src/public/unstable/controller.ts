/**
 * `evenkeel/unstable/controller`: parts of the layer controller for tools of this repository. They may change with any release.
 */
export { Ledger, type LedgerEntry } from '#controller'
