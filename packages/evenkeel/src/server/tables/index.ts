/**
 * Tables: what `kubectl get` prints of each kind.
 *
 * A kind is either built in, and then listed by kind and group in one of the files under `kinds/`, or it brings its own
 * columns (a custom resource), or it has nothing to show but its name and when it was created.
 */
import { defaultColumns } from './column.ts'
import type { TableColumns } from './columns.ts'
import { admissionColumns } from './kinds/admission.ts'
import { clusterColumns } from './kinds/cluster.ts'
import { schedulingColumns } from './kinds/devices.ts'
import { eventColumnsByKind } from './kinds/event.ts'
import { networkingColumns } from './kinds/network.ts'
import { autoscalingColumns } from './kinds/scaling.ts'
import { storageColumns } from './kinds/storage.ts'
import { appsColumns } from './kinds/workloads.ts'

export { metadataListOnly, metadataOnly } from './partial.ts'
export type { MetaVersion } from './partial.ts'
export { columnsFromPrinter } from './printer-columns.ts'
export { makeTable } from './table.ts'
export type { IncludeObject } from './table.ts'

/** The columns of a built-in kind; name and creation time for every other. */
export function columnsFor(group: string, kind: string): TableColumns {
  return builtin.get(group === '' ? kind : `${kind}.${group}`) ?? defaultColumns
}

const builtin: ReadonlyMap<string, TableColumns> = new Map(
  [
    appsColumns,
    networkingColumns,
    storageColumns,
    clusterColumns,
    eventColumnsByKind,
    admissionColumns,
    autoscalingColumns,
    schedulingColumns,
  ].flatMap((kinds) => Object.entries(kinds)),
)
