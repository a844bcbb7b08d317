/**
 * Tables: what `kubectl get` prints of each kind.
 *
 * A kind is either built in, and then listed by kind and group in one of the files under `kinds/`, or it brings its own
 * columns (a custom resource), or it has nothing to show but its name and when it was created.
 */
import { plainColumns } from './column.ts'
import type { Columns } from './columns.ts'
import { admissionKinds } from './kinds/admission.ts'
import { clusterKinds } from './kinds/cluster.ts'
import { deviceKinds } from './kinds/devices.ts'
import { eventKinds } from './kinds/event.ts'
import { networkKinds } from './kinds/network.ts'
import { scalingKinds } from './kinds/scaling.ts'
import { storageKinds } from './kinds/storage.ts'
import { workloadKinds } from './kinds/workloads.ts'

export { metadataListOnly, metadataOnly } from './partial.ts'
export type { MetaVersion } from './partial.ts'
export { columnsFromPrinter } from './printer-columns.ts'
export { makeTable } from './table.ts'
export type { IncludeObject } from './table.ts'

/** The columns of a built-in kind; name and creation time for every other. */
export function columnsFor(group: string, kind: string): Columns {
  return builtin.get(group === '' ? kind : `${kind}.${group}`) ?? plainColumns
}

const builtin: ReadonlyMap<string, Columns> = new Map(
  [
    workloadKinds,
    networkKinds,
    storageKinds,
    clusterKinds,
    eventKinds,
    admissionKinds,
    scalingKinds,
    deviceKinds,
  ].flatMap((kinds) => Object.entries(kinds)),
)
