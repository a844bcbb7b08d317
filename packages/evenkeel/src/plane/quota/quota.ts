/**
 * ResourceQuotas as their controller sees them.
 */
import { declareKind } from '#api'
import type { JsonValue, Kind, KubeObject } from '#api'

export type Amounts = Readonly<Record<string, string>>

export interface QuotaObject extends KubeObject {
  readonly spec?: { readonly hard?: Amounts; readonly scopes?: readonly string[]; readonly scopeSelector?: JsonValue }
  readonly status?: { readonly hard?: Amounts; readonly used?: Amounts }
}

export const quotaKind: Kind<QuotaObject> = declareKind<QuotaObject>({
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
})

/** Names of the core group that are counted without `count/` before them. */
const shortNames: ReadonlySet<string> = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
])

/** Which objects a name in a quota counts; undefined for amounts that are no numbers of objects. */
export function countedResource(name: string): { readonly group: string; readonly plural: string } | undefined {
  if (shortNames.has(name)) return { group: '', plural: name }
  if (!name.startsWith('count/')) return undefined
  const rest = name.slice('count/'.length)
  const dot = rest.indexOf('.')
  return dot < 0 ? { group: '', plural: rest } : { group: rest.slice(dot + 1), plural: rest.slice(0, dot) }
}
