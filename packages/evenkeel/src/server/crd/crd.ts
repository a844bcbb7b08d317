/**
 * A CustomResourceDefinition as the server reads it, and the names that it gets.
 *
 * The objects come from the store, where only validated ones are, so their shape is not checked again. Within a
 * group every plural, singular, short name and kind belongs to one CRD. A CRD keeps the names that it has; a name
 * that is taken is reported in the status until it is free. Nothing is served before a CRD has all its names.
 */
import { X509Certificate } from 'node:crypto'
import {
  approvalCondition,
  deepEqual,
  isConditionTrue,
  setCondition,
  type Condition,
  type JsonObject,
  type PrinterColumn,
  type SchemaNode,
  type UnstructuredObject,
} from '#api'
import type { WebhookClientConfig } from '../webhooks/client.ts'

interface CrdNames {
  readonly plural: string
  readonly singular?: string
  readonly kind: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

export interface CrdVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: SchemaNode }
  readonly subresources?: {
    readonly status?: JsonObject
    readonly scale?: {
      readonly specReplicasPath: string
      readonly statusReplicasPath: string
      readonly labelSelectorPath?: string
    }
  }
  readonly additionalPrinterColumns?: readonly PrinterColumn[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

export interface CrdStatus {
  readonly acceptedNames?: CrdNames
  readonly storedVersions?: readonly string[]
  readonly conditions?: readonly Condition[]
}

/** The conversion webhook of a CRD. */
export interface ConversionWebhookConfig {
  readonly clientConfig: WebhookClientConfig
  readonly conversionReviewVersions: readonly string[]
}

export interface CustomResourceDefinition {
  readonly metadata: UnstructuredObject['metadata']
  readonly spec: {
    readonly group: string
    readonly scope: 'Namespaced' | 'Cluster'
    readonly names: CrdNames
    readonly versions: readonly CrdVersion[]
    readonly conversion?: { readonly strategy: string; readonly webhook?: ConversionWebhookConfig }
  }
  readonly status?: CrdStatus
}

export function asCrd(object: UnstructuredObject): CustomResourceDefinition {
  return object as unknown as CustomResourceDefinition
}

/** The status of a CRD, given the others of its group. */
export function crdStatus(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  now: string,
): CrdStatus {
  const {
    spec: { names, versions },
    status = {},
  } = definition
  const taken = takenNames(others.filter((other) => other.spec.group === definition.spec.group))
  const { accepted, conflict } = acceptNames(names, status.acceptedNames, taken)
  const present = withApproval(status.conditions ?? [], definition, now)
  const conditions = nextConditions(present, { conflict, hasCaBundle: hasReadableCaBundle(definition) }, now)
  const storage = versions.find((version) => version.storage)?.name
  const stored = status.storedVersions ?? []
  return {
    conditions,
    acceptedNames: accepted,
    storedVersions: storage === undefined || stored.includes(storage) ? stored : [...stored, storage],
  }
}

/** Whether a CRD may be served. */
export function isEstablished({ status }: Pick<CustomResourceDefinition, 'status'>): boolean {
  return isConditionTrue(status?.conditions ?? [], 'Established')
}

/** Whether a CRD got all requested names. */
export function areNamesAccepted({ status }: Pick<CustomResourceDefinition, 'status'>): boolean {
  return isConditionTrue(status?.conditions ?? [], 'NamesAccepted')
}

interface TakenNames {
  readonly resources: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
}

function takenNames(others: readonly CustomResourceDefinition[]): TakenNames {
  const names = others.flatMap(({ status }) => status?.acceptedNames ?? [])
  return {
    resources: new Set(
      names
        .flatMap(({ plural, singular = '', shortNames = [] }) => [plural, singular, ...shortNames])
        .filter((name) => name !== ''),
    ),
    kinds: new Set(names.flatMap(({ kind, listKind = '' }) => [kind, listKind]).filter((name) => name !== '')),
  }
}

interface NameConflict {
  readonly reason: string
  readonly message: string
}

function acceptNames(
  wanted: CrdNames,
  present: Partial<CrdNames> = {},
  { resources, kinds }: TakenNames,
): { accepted: CrdNames; conflict: NameConflict | undefined } {
  const accepted: Record<string, unknown> = { ...present }
  let conflict: NameConflict | undefined
  const take = (field: 'plural' | 'singular' | 'kind' | 'listKind', used: ReadonlySet<string>): void => {
    const name = wanted[field]
    if (name === undefined || name === present[field] || !used.has(name)) accepted[field] = name
    else conflict = { reason: `${field[0]?.toUpperCase() ?? ''}${field.slice(1)}Conflict`, message: inUse(name) }
  }
  take('plural', resources)
  take('singular', resources)
  const lost = (wanted.shortNames ?? []).filter((name) => !present.shortNames?.includes(name) && resources.has(name))
  if (lost.length === 0) accepted['shortNames'] = wanted.shortNames
  else
    conflict = {
      reason: 'ShortNamesConflict',
      message: lost.length === 1 ? lost.map(inUse).join('') : `[${lost.map(inUse).join(', ')}]`,
    }
  take('kind', kinds)
  take('listKind', kinds)
  accepted['categories'] = wanted.categories
  for (const [field, value] of Object.entries(accepted)) if (value === undefined) delete accepted[field]
  return { accepted: { plural: '', kind: '', ...accepted }, conflict }
}

function withApproval(
  present: readonly Condition[],
  { metadata: { annotations = {} }, spec: { group } }: CustomResourceDefinition,
  now: string,
): readonly Condition[] {
  const approval = approvalCondition(group, annotations)
  return approval === undefined ? present : setCondition(present, approval, { now })
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`
}

/** Whether the certificates that a conversion webhook is called with can be read, if there are any. */
function hasReadableCaBundle({ spec: { conversion } }: CustomResourceDefinition): boolean {
  const { caBundle = '' } = conversion?.webhook?.clientConfig ?? {}
  if (conversion?.strategy !== 'Webhook' || caBundle === '') return true
  try {
    const pem = Buffer.from(caBundle, 'base64').toString()
    return pem.includes('-----BEGIN CERTIFICATE-----') && new X509Certificate(pem).raw.byteLength > 0
  } catch {
    return false
  }
}

function nextConditions(
  present: readonly Condition[],
  { conflict, hasCaBundle }: { conflict: NameConflict | undefined; hasCaBundle: boolean },
  now: string,
): readonly Condition[] {
  const names =
    conflict === undefined
      ? ({ type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' } as const)
      : ({ type: 'NamesAccepted', status: 'False', ...conflict } as const)
  const withNames = setCondition(present, names, { now })
  // An established CRD stays established, whatever names it requests later.
  if (isConditionTrue(present, 'Established')) return withNames
  return setCondition(withNames, establishedCondition({ conflict, hasCaBundle }), { now })
}

function establishedCondition({
  conflict,
  hasCaBundle,
}: {
  conflict: NameConflict | undefined
  hasCaBundle: boolean
}): Parameters<typeof setCondition>[1] {
  const type = 'Established'
  if (conflict !== undefined)
    return { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
  if (!hasCaBundle)
    return { type, status: 'False', reason: 'InvalidCABundle', message: 'The conversion webhook CABundle is invalid' }
  return { type, status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
}

/** Whether the status of a CRD is up to date. */
export function isStatusCurrent({ status }: Pick<CustomResourceDefinition, 'status'>, wanted: CrdStatus): boolean {
  return deepEqual(status, { ...status, ...wanted })
}
