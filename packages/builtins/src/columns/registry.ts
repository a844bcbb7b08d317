/**
 * The table columns of all kinds, as `kubectl get` prints them.
 *
 * A built-in kind is listed by kind and group in one of the files of this folder. A custom resource has its own
 * columns. Every other kind shows its name and creation time.
 */
import { admissionColumns } from './admission.ts'
import { appsColumns } from './apps.ts'
import { autoscalingColumns } from './autoscaling.ts'
import { clusterColumns, eventColumnsByKind } from './cluster.ts'
import { defaultColumns, type TableColumns } from './column.ts'
import { networkingColumns } from './networking.ts'
import { schedulingColumns } from './scheduling.ts'
import { storageColumns } from './storage.ts'

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
